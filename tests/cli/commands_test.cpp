// The real program on good input: tables, JSON, exit codes, and products that NumPy agrees with.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "catalog/catalog.h"
#include "cli/app/app.h"
#include "cli/files/npy.h"
#include "cli/version.h"
#include "lab/record/record.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

using Words = std::vector<std::string>;

const std::string kData = TESSERA_SOURCE_DIR "/tests/cli/data/";

class Commands : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }
};

double element(const NpyFile& file, std::int64_t r, std::int64_t c) {
  const NpyHeader& h = file.header();
  const std::int64_t at = h.fortran_order ? c * h.rows + r : r * h.cols + c;
  double wide = 0;
  float narrow = 0;
  if (h.type == ElementType::kF64) {
    std::memcpy(&wide, file.data() + 8 * at, 8);
    return wide;
  }
  std::memcpy(&narrow, file.data() + 4 * at, 4);
  return narrow;
}

void set_element(NpyFile& file, std::int64_t r, std::int64_t c, float value) {
  const NpyHeader& h = file.header();
  std::memcpy(file.data() + 4 * (h.fortran_order ? c * h.rows + r : r * h.cols + c), &value, 4);
}

// `d` equals `want` in shape and, within the rounding of 33 products, in every element.
// `rounding`: what operands of fewer digits than the file's may be off by.
void expect_close(const std::string& d, const std::string& want, double factor = 1,
                  double rounding = 0) {
  const NpyFile got = NpyFile::read(d, "d"), right = NpyFile::read(want, "want");
  ASSERT_EQ(got.header().rows, right.header().rows);
  ASSERT_EQ(got.header().cols, right.header().cols);
  ASSERT_EQ(got.header().type, right.header().type);
  const double tolerance = rounding + (right.header().type == ElementType::kF64 ? 1e-14 : 4e-6);
  for (std::int64_t r = 0; r < right.header().rows; ++r) {
    for (std::int64_t c = 0; c < right.header().cols; ++c) {
      ASSERT_NEAR(element(got, r, c), factor * element(right, r, c), std::abs(factor) * tolerance)
          << r << ", " << c;
    }
  }
}

TEST_F(Commands, HelpAndVersion) {
  const Ran help = run_program({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_GE(all_commands().size(), 10u);
  for (const auto& [name, summary, examples, declare] : all_commands()) {
    EXPECT_TRUE(contains(help.out, "  " + name)) << name;
    const Ran of_command = run_program({name, "--help"});
    EXPECT_TRUE(contains(of_command.out, "Examples:\n  tessera " + name));
    EXPECT_TRUE(contains(of_command.out, "--json PATH"));
    EXPECT_EQ(of_command.err, "");
  }
  const std::string version = run_program({"--version"}).out;
  EXPECT_TRUE(version.starts_with("tessera "));
  EXPECT_TRUE(contains(version, std::string("(commit ") + build_commit())) << version;
}

TEST_F(Commands, ListWalksTheCatalog) {
  const Ran ran = run_program({"list", "--json", "-"});
  EXPECT_EQ(ran.code, 0);
  const lab::Json object = lab::Json::parse(ran.out);
  ASSERT_EQ(object.at("kernels").size(), all_kernels().size());
  for (std::size_t i = 0; i < all_kernels().size(); ++i) {
    const lab::Json& kernel = object.at("kernels").at(i);
    EXPECT_EQ(kernel.at("kernel"), all_kernels()[i].name);
    EXPECT_EQ(kernel.at("entries").size(), all_kernels()[i].rows.size());
    for (const lab::Json& entry : kernel.at("entries")) EXPECT_GT(entry.at("registers"), 0);
  }
}

TEST_F(Commands, DoctorSaysWhatWorks) {
  const Ran ran = run_program({"doctor", "--device", "virtual"});
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_TRUE(contains(ran.out, "yes  a kernel on the virtual GPU"));
  EXPECT_TRUE(contains(ran.out, "Kernels run on the virtual GPU"));
  const lab::Json object =
      lab::Json::parse(run_program({"doctor", "--device", "virtual", "--json", "-"}).out);
  EXPECT_GT(object.at("findings").size(), 5u);
}

TEST_F(Commands, BenchWritesTheRecordOfTheDesign) {
  const Ran ran = run_program({"bench", "--device", "virtual", "--kernel", "02,24", "-m", "33",
                               "-n", "17", "-k", "9", "--json", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const lab::Json object = lab::Json::parse(ran.out);
  EXPECT_TRUE(object.contains("schema"));
  EXPECT_TRUE(object.contains("environment"));
  const Ran glob =
      run_program({"bench", "--device", "virtual", "--kernel", "02*", "-m", "8", "--json", "-"});
  EXPECT_EQ(lab::Json::parse(glob.out).at("environment").at("command"),
            "tessera bench --device virtual --kernel '02*' -m 8 --json -");
  ASSERT_EQ(object.at("runs").size(), 2u);
  for (const lab::Json& run : object.at("runs")) {
    for (const char* field :
         {"kernel", "config", "image", "problem", "device", "verified", "max_error_ratio", "mode",
          "time_ms", "tflops", "vendor", "ratio_to_vendor", "counts", "host_seconds",
          "lane_instructions_per_s", "command"}) {
      EXPECT_TRUE(run.contains(field)) << field;
    }
    EXPECT_EQ(run.at("verified"), "full");
    EXPECT_TRUE(run.at("mode").is_null());
    EXPECT_TRUE(run.at("time_ms").is_null());
    EXPECT_TRUE(run.at("tflops").is_null());
    EXPECT_TRUE(run.at("ratio_to_vendor").is_null());
    EXPECT_GT(run.at("lane_instructions_per_s"), 0);
  }
}

TEST_F(Commands, ARecordsCommandRepeatsIt) {
  const Ran first = run_program({"verify", "--device", "virtual", "--kernel", "06/2x2", "--layout",
                                 "TN",     "-m",       "33",      "-n",       "17",     "-k",
                                 "9",      "--lda",    "40",      "--alpha",  "-1.5",   "--beta",
                                 "0.5",    "--seed",   "7",       "--json",   "-"});
  ASSERT_EQ(first.code, 0) << first.err;
  const lab::Json run = lab::Json::parse(first.out).at("runs").at(0);
  Words again = split(run.at("command").get<std::string>(), ' ');
  ASSERT_EQ(again.at(0), "tessera");
  again.erase(again.begin());
  again.insert(again.end(), {"--json", "-"});
  const Ran second = run_program(again);
  ASSERT_EQ(second.code, 0) << second.err;
  const lab::Json repeated = lab::Json::parse(second.out).at("runs").at(0);
  EXPECT_EQ(repeated.at("problem"), run.at("problem"));
  EXPECT_EQ(repeated.at("config"), run.at("config"));
  EXPECT_EQ(repeated.at("max_error_ratio"), run.at("max_error_ratio"));
  EXPECT_EQ(repeated.at("command"), run.at("command"));
}

TEST_F(Commands, VerifyWalksTheLattice) {
  const Ran ran = run_program({"verify", "--device", "virtual", "--kernel", "07", "--quick"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "07_vector_access")) << ran.out;
}

TEST_F(Commands, ChainOfProducts) {
  const Ran ran = run_program({"bench", "--device", "virtual", "--kernel", "23", "-m", "24",
                               "--chain", "3", "--json", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const lab::Json chain = lab::Json::parse(ran.out).at("chains").at(0);
  EXPECT_EQ(chain.at("correct"), true);
}

// A chain is no plain record of bench: readers of those must not take it for one.
TEST_F(Commands, ChainThatAddsBeforeItMultiplies) {
  const Ran ran = run_program({"bench", "--device", "virtual", "--kernel", "20,24/staged", "-m",
                               "9,24", "--chain", "4", "--add-before", "--json", "-"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const lab::Json file = lab::Json::parse(ran.out);
  EXPECT_EQ(file.at("schema"), "tessera.chain/1");
  EXPECT_FALSE(file.contains("runs"));
  ASSERT_EQ(file.at("chains").size(), 4u);
  for (const lab::Json& chain : file.at("chains")) {
    EXPECT_EQ(chain.at("correct"), true) << chain;
    EXPECT_EQ(chain.at("add_before"), true);
    EXPECT_EQ(chain.at("length"), 4);
    EXPECT_EQ(chain.at("checked"), "full");
    EXPECT_EQ(chain.at("problem").at("type"), "f64");
    EXPECT_TRUE(chain.at("own_ms").is_null());
    EXPECT_TRUE(contains(chain.at("command"), "--chain 4 --add-before")) << chain.at("command");
  }
}

// The second product needs terabytes, which shows when its turn has come.
TEST_F(Commands, BenchWritesItsFilesAfterEveryProblem) {
  const TemporaryFolder folder;
  const Ran ran =
      run_program({"bench", "--device", "virtual", "--kernel", "02", "-m", "8,4000000000", "-n",
                   "64", "-k", "8", "--json", folder / "t.json", "--csv", folder / "t.csv"});
  EXPECT_EQ(ran.code, 2) << ran.out;
  EXPECT_TRUE(contains(ran.err, "4000000000")) << ran.err;
  const lab::Json runs = lab::Json::parse(file_text(folder / "t.json")).at("runs");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs.at(0).at("verified"), "full");
  EXPECT_TRUE(contains(runs.at(0).at("command"), "-m 8 ")) << runs.at(0).at("command");
  EXPECT_TRUE(contains(file_text(folder / "t.csv"), "02_coalesced"));
}

TEST_F(Commands, WhyNamesTheKernelThatBestTakes) {
  const Ran why = run_program({"bench", "--device", "virtual", "--why", "-m", "128", "-n", "128",
                               "-k", "300", "--json", "-"});
  EXPECT_EQ(why.code, 0) << why.err;
  const lab::Json object = lab::Json::parse(why.out);
  EXPECT_EQ(object.at("tag"), "model");
  const lab::Json first = object.at("problems").at(0).at("candidates").at(0);
  EXPECT_GT(first.at("predicted_us").at("total"), 0.0);
  const Ran best = run_program({"bench", "--device", "virtual", "--kernel", "best", "-m", "128",
                                "-n", "128", "-k", "300", "--json", "-"});
  EXPECT_EQ(best.code, 0) << best.err;
  const lab::Json run = lab::Json::parse(best.out).at("runs").at(0);
  EXPECT_EQ(run.at("kernel"), first.at("kernel"));
  EXPECT_EQ(run.at("config"), first.at("config"));
}

TEST_F(Commands, WhySaysWhereTheRemainderIsPlannedApart) {
  const auto taken = [](const char* policy) {
    const Ran why = run_program({"bench", "--device", "virtual", "--why", "-m", "4097", "--layout",
                                 "NT", "--remainder", policy, "--json", "-"});
    EXPECT_EQ(why.code, 0) << why.err;
    return lab::Json::parse(why.out).at("problems").at(0).at("candidates").at(0);
  };
  EXPECT_GT(taken("model").at("predicted_us").at("remainder"), 0.0);
  EXPECT_GT(taken("model").at("decision").at("pieces").size(), 1u);
  EXPECT_EQ(taken("never").at("predicted_us").at("remainder"), 0.0);
  EXPECT_EQ(taken("never").at("decision").at("pieces").size(), 1u);
  const Ran run = run_program({"bench", "--device", "virtual", "--kernel", "simt_f32/64x32", "-m",
                               "70", "--layout", "NT", "--remainder", "always", "--json", "-"});
  EXPECT_EQ(run.code, 0) << run.err;
  const lab::Json record = lab::Json::parse(run.out).at("runs").at(0);
  EXPECT_TRUE(contains(record.at("command"), "--remainder always")) << record.at("command");
}

TEST_F(Commands, ASignalKeepsWhatWasMeasured) {
  const TemporaryFolder folder;
  const int lines_before_the_first_row = 5;
  for (const int signal : {SIGINT, SIGTERM}) {
    const Ran ran =
        interrupt_program({"ladder", "--device", "virtual", "--json", folder / "t.json"},
                          lines_before_the_first_row + 1, signal);
    EXPECT_EQ(ran.code, 130) << ran.out;
    const lab::Json object = lab::Json::parse(file_text(folder / "t.json"));
    EXPECT_GE(object.at("runs").size(), 1u);
    EXPECT_LT(object.at("runs").size(), all_kernels().size());
  }
}

// tessera ladder --json FILE | head -1
TEST_F(Commands, AReaderThatLeavesDoesNotLoseTheFile) {
  const TemporaryFolder folder;
  const Ran ran =
      run_program_for_head({"ladder", "--device", "virtual", "--kernel", "01,02,03", "-m", "64",
                            "-n", "64", "-k", "64", "--json", folder / "t.json"},
                           1);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(lab::Json::parse(file_text(folder / "t.json")).at("runs").size(), 3u);
}

TEST_F(Commands, MultiplyAgreesWithNumPy) {
  const TemporaryFolder folder;
  const std::string d = folder / "d.npy";
  for (const char* device : {"cpu", "virtual"}) {
    for (const char* a : {"a_f32.npy", "a_f32_fortran.npy"}) {
      for (const char* b : {"b_f32.npy", "b_f32_fortran.npy"}) {
        SCOPED_TRACE(std::string(device) + " " + a + " " + b);
        const Ran ran =
            run_program({"multiply", kData + a, kData + b, "-o", d, "--device", device});
        ASSERT_EQ(ran.code, 0) << ran.err;
        expect_close(d, kData + "product_f32.npy");
      }
    }
    for (const char* b : {"b_f64.npy", "b_f64_fortran.npy"}) {
      const Ran ran =
          run_program({"multiply", kData + "a_f64.npy", kData + b, "-o", d, "--device", device});
      ASSERT_EQ(ran.code, 0) << ran.err;
      expect_close(d, kData + "product_f64.npy");
    }
  }
}

TEST_F(Commands, MultiplyTakesEveryKernel) {
  const TemporaryFolder folder;
  const std::string d = folder / "d.npy";
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.family == "warpgroups" || !is_float(kernel.types.a)) continue;  // aligned, integers
    const std::string type = kernel.types == kF64Types ? "f64" : "f32";
    const bool rounds = kernel.types != kF64Types && kernel.types != kF32Types;
    std::vector<std::string> words = {"multiply",
                                      kData + "a_" + type + ".npy",
                                      kData + "b_" + type + ".npy",
                                      "-o",
                                      d,
                                      "--device",
                                      "virtual",
                                      "--kernel",
                                      kernel.name};
    if (rounds) words.insert(words.end(), {"--type", name_of(kernel.types)});
    const Ran ran = run_program(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, kernel.name)) << ran.out;
    expect_close(d, kData + "product_" + type + ".npy", 1, rounds ? 0.05 : 0);
  }
}

TEST_F(Commands, MultiplyScalesAndAddsC) {
  const TemporaryFolder folder;
  const std::string d = folder / "d.npy", product = kData + "product_f32.npy";
  for (const char* device : {"cpu", "virtual"}) {
    const Words call = {"multiply", kData + "a_f32.npy", kData + "b_f32.npy", "-o", d, "--device",
                        device};
    Words scaled = call;
    scaled.insert(scaled.end(), {"--alpha", "2", "--c", product, "--beta", "-0.5"});
    ASSERT_EQ(run_program(scaled).code, 0);
    expect_close(d, product, 1.5);
    Words added = call;
    added.insert(added.end(), {"--c", product});
    ASSERT_EQ(run_program(added).code, 0);
    expect_close(d, product, 2);
  }
}

TEST_F(Commands, MultiplyOfOneElementAndOfNone) {
  const TemporaryFolder folder;
  const std::string d = folder / "d.npy", one = kData + "one_f32.npy";
  for (const char* device : {"cpu", "virtual"}) {
    ASSERT_EQ(run_program({"multiply", one, one, "-o", d, "--device", device}).code, 0);
    EXPECT_EQ(element(NpyFile::read(d, "d"), 0, 0), 12.25);
    const Ran none = run_program(
        {"multiply", kData + "empty.npy", kData + "b_f32.npy", "-o", d, "--device", device});
    ASSERT_EQ(none.code, 0) << none.err;
    EXPECT_FALSE(contains(none.out, "()")) << none.out;
    EXPECT_EQ(NpyFile::read(d, "d").header().rows, 0);
    EXPECT_EQ(NpyFile::read(d, "d").header().cols, 9);
  }
}

// 1000 x 777 x 333 in small integers, so that every sum is exact; A in Fortran order.
TEST_F(Commands, MultiplyOfALargerProductIsExact) {
  const TemporaryFolder folder;
  NpyFile a = NpyFile::make(ElementType::kF32, 1000, 777, true);
  NpyFile b = NpyFile::make(ElementType::kF32, 777, 333, false);
  const auto entry = [](int r, int c) { return static_cast<float>((7 * r + 13 * c) % 17 - 8); };
  for (int r = 0; r < 1000; ++r) {
    for (int k = 0; k < 777; ++k) set_element(a, r, k, entry(r, k));
  }
  for (int k = 0; k < 777; ++k) {
    for (int c = 0; c < 333; ++c) set_element(b, k, c, entry(k, c + 5));
  }
  lab::write_file(folder / "a.npy", a.bytes());
  lab::write_file(folder / "b.npy", b.bytes());
  for (const char* device : {"cpu", "virtual"}) {
    const Ran ran = run_program({"multiply", folder / "a.npy", folder / "b.npy", "-o",
                                 folder / "d.npy", "--device", device});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const NpyFile d = NpyFile::read(folder / "d.npy", "d");
    for (int r = 0; r < 1000; r += 37) {
      for (int c = 0; c < 333; ++c) {
        float sum = 0;
        for (int k = 0; k < 777; ++k) sum += entry(r, k) * entry(k, c + 5);
        ASSERT_EQ(element(d, r, c), sum) << device << " " << r << ", " << c;
      }
    }
  }
}

// A stand-in driver whose kernels do nothing: every result is wrong, and that must be heard.
TEST_F(Commands, AWrongKernelIsExitCodeOne) {
  const std::string fake = fake_driver();
  if (!std::filesystem::exists(fake)) GTEST_SKIP() << "no stand-in driver";
  const std::string path = "LD_LIBRARY_PATH=" + std::filesystem::path(fake).parent_path().string();
  const Words does_nothing = {path, "FAKE_CUDA_ACCEPT=1", "FAKE_CUDA_MEMORY=100000000"};
  for (const char* command : {"verify", "bench", "ladder"}) {
    const Ran ran =
        run_program({command, "--device", "cuda", "--kernel", "02", "-m", "8"}, does_nothing);
    EXPECT_EQ(ran.code, 1) << command << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "failed")) << command << ran.out;
  }
}

// A GPU whose driver loads none of the images: rows run on the virtual GPU and are marked.
TEST_F(Commands, ImagesThatDoNotLoadRunOnTheVirtualGpu) {
  const std::string fake = fake_driver();
  if (!std::filesystem::exists(fake)) GTEST_SKIP() << "no stand-in driver";
  const Words refuses = {"LD_LIBRARY_PATH=" + std::filesystem::path(fake).parent_path().string()};
  for (const char* command : {"verify", "bench", "ladder"}) {
    const Ran ran = run_program({command, "--kernel", "02", "-m", "8", "--json", "-"}, refuses);
    EXPECT_EQ(ran.code, 0) << command << ran.out << ran.err;
    const lab::Json runs = lab::Json::parse(ran.out).at("runs");
    ASSERT_GE(runs.size(), 1u);
    EXPECT_EQ(runs.at(0).at("device"), "virtual");
    EXPECT_EQ(runs.at(0).at("verified"), "full");
  }
}

}  // namespace
}  // namespace tessera::cli
