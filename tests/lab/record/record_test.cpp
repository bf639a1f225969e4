#include "lab/record/record.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tessera::lab {
namespace {

namespace fs = std::filesystem;

Record full_record() {
  Record r;
  r.kernel = "12_warp_tile";
  r.config = "128x128x8";
  r.image = "cubin sm_90a";
  r.idea = "compact tiles";
  r.problem = with_default_ld({64, 32, 16});
  r.device = "NVIDIA H200";
  r.verified = "full";
  r.max_error_ratio = 0.25;
  r.mode = Mode::kSustained;
  r.time_ms = Summary{1.5, 1.25, 2, 40};
  r.tflops = 40;
  r.image_hash = "0123456789abcdef";
  r.image_is_patched = true;
  r.workspace_bytes = 1 << 20;
  r.order_seed = 4000000000;
  r.rounds = 5;
  r.vendor = VendorTime{"cuBLAS default (cuBLAS 13.1.0)", {1.2, 1.1, 1.3, 40}, 64 << 20};
  r.ratio_to_vendor = 0.8;
  r.samples_ms = {1.5, 1.25};
  r.calls_per_sample = 1;
  CountSummary counts;
  counts.fma = {2, 64};
  counts.shared_loads[16] = {1, 32};
  r.counts = counts;
  return r;
}

TEST(Record, HasEveryFieldOfTheSchema) {
  const Json json = to_json(full_record());
  for (const char* field :
       {"kernel", "config", "image", "problem", "device", "verified", "max_error_ratio", "mode",
        "time_ms", "tflops", "vendor", "ratio_to_vendor", "counts", "host_seconds",
        "lane_instructions_per_s"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  for (const char* field :
       {"m", "n", "k", "type", "layout", "order", "lda", "ldb", "ldc", "ldd", "alpha", "beta"}) {
    EXPECT_TRUE(json["problem"].contains(field)) << field;
  }
  for (const char* field : {"image_hash", "workspace_bytes", "order_seed", "rounds"}) {
    EXPECT_FALSE(json[field].is_null()) << field;
  }
  EXPECT_EQ(json["image_is_patched"], true);
  EXPECT_EQ(json["build"], "this");
  EXPECT_EQ(json["vendor"]["workspace_bytes"], 64 << 20);
  EXPECT_EQ(json["mode"], "sustained");
  EXPECT_EQ(json["time_ms"], Json::parse(R"({"median":1.5,"p5":1.25,"p95":2.0,"n":40})"));
  EXPECT_EQ(json["counts"]["ld.shared"]["b128"]["thread"], 32);
  EXPECT_EQ(json["counts"]["tag"], "exact");
}

TEST(Record, UnknownValuesAreNull) {
  Record r;
  r.verified = "failed";
  r.max_error_ratio = std::numeric_limits<double>::infinity();
  const Json json = to_json(r);
  for (const char* field :
       {"mode", "time_ms", "tflops", "vendor", "ratio_to_vendor", "counts", "max_error_ratio",
        "image_hash", "workspace_bytes", "workspace_limit", "order_seed", "rounds", "host_us",
        "within_vendor_workspace", "other_image", "ratio_to_other"}) {
    EXPECT_TRUE(json[field].is_null()) << field;
  }
  EXPECT_EQ(Json::parse(json.dump()), json);
}

TEST(Record, SaysWhatWasTimedBesideIt) {
  Record r = full_record();
  r.other_build = true;
  r.workspace_limit = 64 << 20;
  r.ratio_to_other = 1.01;
  r.other_image = Companion{"12_warp_tile", "128x128x8", "feed", 5, 3, "full", "", 1.5, 39, 0.8};
  r.within_vendor_workspace = Companion{};
  const Json json = to_json(r);
  EXPECT_EQ(json["build"], "other");
  EXPECT_EQ(json["workspace_limit"], 64 << 20);
  EXPECT_EQ(json["ratio_to_other"], 1.01);
  EXPECT_EQ(json["other_image"],
            Json::parse(R"({"kernel":"12_warp_tile","config":"128x128x8","image_hash":"feed",
                            "workspace_limit":5,"workspace_bytes":3,"verified":"full",
                            "reason":null,"time_ms":1.5,"tflops":39.0,"ratio_to_vendor":0.8})"));
  EXPECT_TRUE(json["within_vendor_workspace"]["time_ms"].is_null());
}

TEST(Record, AFileDescribesItself) {
  Environment environment;
  environment.device.kind = DeviceKind::kCuda;
  environment.vendor = "cuBLAS 13.1.0";
  environment.commit = "1a2b3c4d5e6f";
  const Json file = Json::parse(to_json(environment, {full_record(), Record{}}).dump(1));
  EXPECT_EQ(file["schema"], "tessera.results/1");
  EXPECT_EQ(file["environment"]["device"]["kind"], "cuda");
  EXPECT_EQ(file["environment"]["libraries"]["vendor"], "cuBLAS 13.1.0");
  ASSERT_EQ(file["runs"].size(), 2u);
  EXPECT_EQ(file["environment"]["commit"], "1a2b3c4d5e6f");
  Json first = to_json(full_record());
  first["commit"] = "1a2b3c4d5e6f";
  EXPECT_EQ(file["runs"][0], first);
  EXPECT_EQ(file["runs"][1]["commit"], "1a2b3c4d5e6f");
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tessera_files_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string read(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string folder;
};

TEST_F(Files, AreWrittenAndReplaced) {
  const std::string path = folder + "/x.json";
  write_file(path, "one");
  EXPECT_EQ(read(path), "one");
  write_file(path, "two");
  EXPECT_EQ(read(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);  // nothing left beside it
}

TEST_F(Files, ALinkStaysALink) {
  write_file(folder + "/real", "one");
  fs::create_symlink(folder + "/real", folder + "/link");
  write_file(folder + "/link", "two");
  EXPECT_TRUE(fs::is_symlink(folder + "/link"));
  EXPECT_EQ(read(folder + "/real"), "two");
}

TEST_F(Files, RefusalsNameArgumentPathAndReason) {
  const auto refused = [](const std::string& path, const std::string& words) {
    try {
      check_writable(path, "--json");
      FAIL() << path;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().code, StatusCode::kBadArgument);
      const std::string message = error.what();
      EXPECT_EQ(message.rfind("--json is '" + path + "'", 0), 0u) << message;
      EXPECT_NE(message.find(words), std::string::npos) << message;
    }
  };
  refused(folder + "/none/x.json", "No such file");
  refused(folder, "it is a folder");
  refused("", "empty");
  write_file(folder + "/file", "text");
  refused(folder + "/file/x.json", "folder is a file");
}

TEST_F(Files, DevicesAreWrittenNotReplaced) {
  write_file("/dev/null", "gone");
  struct stat info {};
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST_F(Files, AFailedWriteLeavesTheOldFile) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THROW(write_file("/dev/full", "text"), StatusError);
  const std::string path = folder + "/x";
  write_file(path, "old");
  const std::string blocker = path + "." + std::to_string(getpid()) + ".partial";
  fs::create_directory(blocker);  // the new file cannot be made beside the old one
  EXPECT_THROW(write_file(path, "new"), StatusError);
  EXPECT_EQ(read(path), "old");
}

}  // namespace
}  // namespace tessera::lab
