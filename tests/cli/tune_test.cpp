// tessera tune without a GPU: what it refuses, its list of entries, and what bench --why then says.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gemm/overlay/call_text.h"
#include "gemm/overlay/overlay_file.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

class Tune : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }
  Ran run(std::vector<std::string> words) const {
    return run_program(words, {"TESSERA_TUNING=" + path_});
  }
  void expect_refused(std::vector<std::string> words, const std::vector<std::string>& parts) {
    words.insert(words.begin(), "tune");
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    for (const std::string& part : parts) EXPECT_TRUE(contains(ran.err, part)) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(path_));
  }

  // An overlay of the virtual GPU in which another plan than the model's is the fastest.
  gemm::Overlay write() const {
    gemm::Overlay overlay{path_, {"virtual", "", gemm::library_version()}, {}, {}};
    for (const std::int64_t m : {300, 400}) {
      const Problem problem = with_default_ld({m, 200, 96, kF32Types});
      overlay.entries[gemm::key_of({problem, {}, gemm::kAnyWorkspace})] = {wanted_, 8.1, 9.3};
    }
    gemm::write_overlay(overlay);
    return overlay;
  }
  std::string why(const std::string& tuning, const std::string& m = "300") const {
    const Ran ran = run_program(
        {"bench", "--why", "--device", "virtual", "-m", m, "-n", "200", "-k", "96", "--json", "-"},
        {"TESSERA_TUNING=" + tuning});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const lab::Json problem = lab::Json::parse(ran.out).at("problems").at(0);
    return problem.at("candidates").at(0).at("plan").get<std::string>() + "|" +
           problem.at("tuned").get<std::string>();
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "overlay";
  const std::string wanted_ = "simt_f32/128x128:whole_tiles=0:runs=18";
};

TEST_F(Tune, NeedsAGpu) {
  expect_refused({"-m", "64", "--device", "virtual"}, {"tune measures", "no GPU", "no clock"});
}

TEST_F(Tune, RefusesBadCalls) {
  expect_refused({}, {"needs shapes", "--from"});
  expect_refused({"-m", "0:x"}, {"-m"});
  expect_refused({"-m", "8", "--within", "0.5"}, {"--within is '0.5'", "at least 1"});
  expect_refused({"-m", "8", "--workspace-limit", "x"}, {"--workspace-limit is 'x'"});
  expect_refused({"--list", "-m", "8"}, {"-m is given", "--list"});
  expect_refused({"--forget", "all", "--list"}, {"--forget is given", "--list"});
  expect_refused({"--from", folder_ / "none"}, {"--from is", "file to read"});
  const std::string log = folder_ / "log";
  write_text(log, "nothing of ours\n");
  expect_refused({"--from", log}, {"no line with '; call '"});
  expect_refused({"--from", log, "-m", "8"}, {"--from is", "shapes"});
  write_text(log, "planned; call type=f32 m=8 n=8 k=8\nplanned; call type=f32 m=8 n=8 k=z\n");
  expect_refused({"--from", log}, {"line 2", "k=z"});
  write_text(log, "planned; call type=f32 m=8 n=8 k=8\r\nmultiplied on the CPU: why\n");
  expect_refused({"--from", log, "--device", "virtual"}, {"no clock"});
}

// The stand-in driver computes nothing, so no result is right.
TEST_F(Tune, KeepsNoPlanThatIsWrong) {
  if (!std::filesystem::exists(fake_driver())) GTEST_SKIP() << "no stand-in driver";
  const Ran ran = run_program(
      {"tune", "-m", "64", "--device", "cuda", "--json", "-"},
      {"TESSERA_TUNING=" + path_, "FAKE_CUDA_ACCEPT=1", "FAKE_CUDA_MEMORY=100000000000",
       "LD_LIBRARY_PATH=" + std::filesystem::path(fake_driver()).parent_path().string()});
  EXPECT_EQ(ran.code, 1) << ran.err;
  const lab::Json call = lab::Json::parse(ran.out).at("calls").at(0);
  EXPECT_TRUE(contains(call.at("reason"), "sampled entries")) << call.dump();
  EXPECT_FALSE(call.contains("taken"));
  EXPECT_GT(call.at("plans").size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Tune, ListsAndForgets) {
  EXPECT_TRUE(contains(run({"tune", "--list"}).out, "Nothing is tuned"));
  const gemm::Overlay overlay = write();
  const Ran listed = run({"tune", "--list"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_TRUE(contains(listed.out, "1.148")) << listed.out;
  const Ran json = run({"tune", "--list", "--json", "-"});
  const lab::Json file = lab::Json::parse(json.out).at("overlays").at(0);
  EXPECT_EQ(file.at("gpu"), "virtual");
  EXPECT_EQ(file.at("entries").size(), 2u);
  EXPECT_EQ(file.at("entries").at(0).at("plan"), wanted_);
  EXPECT_EQ(file.at("entries").at(0).at("call"), overlay.entries.begin()->first);

  EXPECT_TRUE(contains(run({"tune", "--forget", "type=f32 m=30"}).out, "0 entries"));
  EXPECT_TRUE(contains(run({"tune", "--forget", "type=f32 m=300"}).out, "1 entry removed"));
  EXPECT_EQ(gemm::read_overlay(path_).entries.size(), 1u);
  EXPECT_TRUE(contains(run({"tune", "--forget", "all"}).out, "1 entry removed"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  write_text(path_, "broken");
  EXPECT_TRUE(contains(run({"tune", "--list"}).out, "Ignored: "));
  EXPECT_EQ(run({"tune", "--forget", "m=300"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path_)) << "not what was meant";
  EXPECT_EQ(run({"tune", "--forget", "all"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Tune, BenchSaysWhatTheOverlayChose) {
  const std::string by_model = why("off");
  EXPECT_TRUE(contains(by_model, "|")) << by_model;
  EXPECT_FALSE(contains(by_model, wanted_));
  EXPECT_EQ(why(path_), by_model) << "no file";
  gemm::Overlay overlay = write();
  EXPECT_TRUE(contains(why(path_), wanted_ + "|the overlay of tessera tune chose it: 8.1 us"));
  EXPECT_EQ(why("off"), by_model);
  EXPECT_EQ(why(""), by_model);
  EXPECT_FALSE(contains(why(path_, "301"), "overlay"));
  const Ran text =
      run({"bench", "--why", "--device", "virtual", "-m", "300", "-n", "200", "-k", "96"});
  EXPECT_TRUE(contains(text.out, "300 x 200 x 96 NN: the overlay of tessera tune")) << text.out;

  const std::string whole = file_text(path_);
  const std::string model_alone = by_model.substr(0, by_model.find('|') + 1);
  const auto expect_ignored = [&](const std::string& content) {
    write_text(path_, content);
    EXPECT_EQ(why(path_).rfind(model_alone + "the overlay is ignored: " + path_, 0), 0u)
        << why(path_);
  };
  expect_ignored(whole.substr(0, whole.size() - 1));
  expect_ignored("");
  expect_ignored(std::string(10 << 20, 'x'));
  overlay.origin.library = "another";
  expect_ignored(gemm::text_of(overlay));
  overlay.origin = {"NVIDIA H200", "", gemm::library_version()};
  expect_ignored(gemm::text_of(overlay));
  overlay.origin.gpu = "virtual";
  for (auto& [key, entry] : overlay.entries) entry.plan = "nothing/1x1:whole";
  write_text(path_, gemm::text_of(overlay));
  EXPECT_EQ(
      why(path_).rfind(model_alone + "the overlay's plan nothing/1x1:whole is not possible", 0), 0u)
      << why(path_);
}

}  // namespace
}  // namespace tessera::cli
