// What a record of bench says of its own making: the command that repeats it, its seeds, its
// commit, and that it is on disk as soon as it is there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cli/options/repeat.h"
#include "cli/version.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {

Command bench_command();  // src/cli/commands/bench.cpp
namespace {

using Words = std::vector<std::string>;

// A stand-in driver whose kernels do nothing, in no time: what it takes for a record with times.
Words with_fake_gpu() {
  return {"LD_LIBRARY_PATH=" + std::filesystem::path(fake_driver()).parent_path().string(),
          "FAKE_CUDA_ACCEPT=1", "FAKE_CUDA_MEMORY=1000000000"};
}

class BenchRecords : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
    if (!std::filesystem::exists(fake_driver())) GTEST_SKIP() << "no stand-in driver";
  }

  // The runs of a call on the fake GPU.
  lab::Json timed(Words more) {
    Words call = {"bench", "--device", "cuda", "--no-verify", "--rounds", "1", "--json", "-"};
    call.insert(call.end(), more.begin(), more.end());
    const Ran ran = run_program(call, with_fake_gpu());
    EXPECT_EQ(ran.code, 0) << ran.err;
    return lab::Json::parse(ran.out);
  }
  std::string command_of(const lab::Json& run) { return run.at("command"); }
};

TEST_F(BenchRecords, TheCommandNamesTheGpu) {
  Words environment = with_fake_gpu();
  environment.emplace_back("FAKE_CUDA_COUNT=2");
  for (const std::string device : {"cuda", "cuda:1"}) {
    const Ran ran = run_program({"bench", "--device", device, "--no-verify", "--rounds", "1",
                                 "--kernel", "02", "-m", "64", "--json", "-"},
                                environment);
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::string command = command_of(lab::Json::parse(ran.out).at("runs").at(0));
    EXPECT_TRUE(contains(command, "--device " + device + " --kernel")) << command;
  }
}

// The options that a record's own fields say; RecordsSayWhatTheyAreOf walks them.
const std::set<std::string> kOfTheRecord = {
    "--kernel",  "-m",         "-n",         "-k",         "--shapes",     "--layout",
    "--order",   "--lda",      "--ldb",      "--ldc",      "--ldd",        "--alpha",
    "--beta",    "--device",   "--mode",     "--seed",     "--order-seed", "--workspace-limit",
    "--batch",   "--stride-a", "--stride-b", "--stride-c", "--stride-d",   "--pointers",
    "--epilogue"};
const std::set<std::string> kNoPartOfARecord = {"--help", "--json", "--csv", "--md"};

// An option that is added to bench tomorrow is in the commands of its records, or this fails.
TEST(BenchCommand, EveryOptionIsCarriedOver) {
  int walked = 0;
  CLI::App all;
  Parser of_all(&all);
  const auto action = bench_command().declare(of_all);  // holds what the options write to
  for (const CLI::Option* option : all.get_options()) {
    const std::string name = option->get_name();
    if (kOfTheRecord.contains(name) || kNoPartOfARecord.contains(name)) continue;
    const bool is_flag = option->get_expected_max() == 0;
    CLI::App app;
    Parser parser(&app);
    const auto action = bench_command().declare(parser);
    const Words reversed = is_flag ? Words{name} : Words{"a b", name};
    app.parse(Words(reversed));
    EXPECT_EQ(carried_options(parser), is_flag ? " " + name : " " + name + " 'a b'");
    ++walked;
  }
  EXPECT_GE(walked, 12);
}

TEST(BenchCommand, TheCommandNamesTheEpilogue) {
  Problem problem = with_default_ld({.m = 3, .n = 5, .k = 7});
  const KernelChoice choice = choose_kernels("simt_f32").front();
  EXPECT_FALSE(contains(repeat_command("bench", choice, problem, "cuda", 1), "--epilogue"));
  problem.epilogue = parse_epilogue("bias_col+gelu");
  EXPECT_TRUE(
      contains(repeat_command("bench", choice, problem, "cuda", 1), " --epilogue bias_col+gelu "));
}

TEST(BenchCommand, TheCommandNamesTheBatch) {
  Problem problem = with_default_ld({.m = 3, .n = 5, .k = 7});
  const KernelChoice choice = choose_kernels("dmma_f64").front();
  const auto command = [&] { return repeat_command("bench", choice, problem, "virtual", 1); };
  EXPECT_FALSE(contains(command(), "--batch"));
  problem.batch = dense_batch(problem, 6);
  EXPECT_TRUE(contains(command(), " --batch 6 --seed 1")) << command();
  problem.batch.stride_a = 0;
  problem.batch.stride_b += 1;
  problem.batch.stride_c += 2;
  problem.batch.stride_d += 3;
  EXPECT_TRUE(contains(
      command(), " --batch 6 --stride-a 0 --stride-b 36 --stride-c 17 --stride-d 18 --seed 1"))
      << command();
  problem.batch = {.kind = BatchKind::kPointers, .count = 6, .alignment = 8};
  EXPECT_TRUE(contains(command(), " --batch 6 --pointers 8 --seed 1")) << command();
}

TEST(BenchCommand, WhatIsNotGivenIsNotCarried) {
  CLI::App app;
  Parser parser(&app);
  const auto action = bench_command().declare(parser);
  app.parse(Words{"t.json", "--json", "never", "--split", "9", "--rounds", "7", "--seed"});
  EXPECT_EQ(carried_options(parser), " --rounds 9 --split never");
  EXPECT_EQ(carried_options(parser, {"--split"}), " --rounds 9");
}

TEST_F(BenchRecords, RecordsSayWhatTheyAreOf) {
  const Ran ran = run_program({"bench",  "--device",  "virtual", "--kernel",
                               "06/2x2", "-m",        "33",      "-n",
                               "17",     "-k",        "9",       "--layout",
                               "TN",     "--order",   "row",     "--lda",
                               "41",     "--ldb",     "42",      "--ldc",
                               "43",     "--ldd",     "44",      "--alpha",
                               "-1.5",   "--beta",    "0.5",     "--seed",
                               "7",      "--threads", "2",       "--workspace-limit",
                               "4096",   "--json",    "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string kernel = name_of(choose_kernels("06/2x2").front());
  EXPECT_EQ(
      command_of(lab::Json::parse(ran.out).at("runs").at(0)),
      "tessera bench --device virtual --kernel " + kernel +
          " -m 33 -n 17 -k 9 --layout "
          "TN --order row --lda 41 --ldb 42 --ldc 43 --ldd 44 --alpha -1.5 --beta 0.5 --seed 7 "
          "--workspace-limit 4096 --threads 2");
}

TEST_F(BenchRecords, ATimedRecordsCommandRepeatsItsOrder) {
  const lab::Json first = timed({"--kernel", "02", "-m", "8"});
  ASSERT_EQ(first.at("runs").size(), 2u);
  for (const lab::Json& run : first.at("runs")) {
    const std::string order = " --order-seed " + run.at("order_seed").dump();
    EXPECT_TRUE(contains(command_of(run), order)) << command_of(run);
    const std::string mode = " --mode " + run.at("mode").get<std::string>();
    EXPECT_TRUE(contains(command_of(run), mode)) << command_of(run);
    EXPECT_EQ(run.at("rounds"), 1);
  }
}

TEST_F(BenchRecords, TheOrderIsDrawnUnlessASeedIsGiven) {
  const auto order_seed = [&](Words more) {
    more.insert(more.end(), {"--kernel", "02", "-m", "8", "--mode", "burst"});
    return timed(more).at("runs").at(0).at("order_seed").get<std::uint64_t>();
  };
  EXPECT_NE(order_seed({}), order_seed({}));
  EXPECT_EQ(order_seed({"--seed", "5"}), 5u);
  EXPECT_EQ(order_seed({"--seed", "5", "--order-seed", "6"}), 6u);
}

TEST_F(BenchRecords, TheCommitIsInEveryRecord) {
  const lab::Json file = timed({"--kernel", "02", "-m", "8", "--mode", "burst"});
  EXPECT_EQ(file.at("environment").at("commit"), build_commit());
  EXPECT_EQ(file.at("runs").at(0).at("commit"), build_commit());
  const std::string hash = file.at("runs").at(0).at("image_hash");
  EXPECT_EQ(hash.size(), 16u);
}

// Above the vendor's 64 MiB a plan is timed within them, too, unless that is not wanted.
TEST_F(BenchRecords, APlanOfMuchWorkspaceIsTimedWithinTheVendorsToo) {
  const Words call = {"--kernel", "simt_f32", "-m",     "4096",   "--layout",
                      "TT",       "--repack", "always", "--mode", "burst"};
  const lab::Json both = timed(call).at("runs");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_GT(both.at(0).at("workspace_bytes"), 64 << 20);
  EXPECT_TRUE(both.at(0).at("workspace_limit").is_null());
  EXPECT_EQ(both.at(1).at("workspace_limit"), 64 << 20);
  EXPECT_LE(both.at(1).at("workspace_bytes"), 64 << 20);
  EXPECT_EQ(both.at(0).at("within_vendor_workspace").at("workspace_bytes"),
            both.at(1).at("workspace_bytes"));
  EXPECT_FALSE(contains(command_of(both.at(0)), "--workspace-limit"));
  EXPECT_TRUE(contains(command_of(both.at(1)), " --workspace-limit 67108864 "));
  for (const char* limit : {"none", "vendor"}) {
    Words one = call;
    one.insert(one.end(), {"--workspace-limit", limit});
    const lab::Json runs = timed(one).at("runs");
    ASSERT_EQ(runs.size(), 1u) << limit;
    EXPECT_EQ(runs.at(0).at("workspace_limit").is_null(), std::string(limit) == "none");
    EXPECT_TRUE(runs.at(0).at("within_vendor_workspace").is_null());
  }
}

// The process is killed, without a chance to tidy up, once its first record is there.
TEST_F(BenchRecords, AKilledRunLeavesWholeRecords) {
  const TemporaryFolder folder;
  const std::string path = folder / "t.json";
  const pid_t child = start_program(
      {"bench", "--device", "virtual", "--kernel", "01,02,03,04,05", "-m", "256", "--json", path});
  std::string text;
  for (int i = 0; i < 3000 && text.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    text = file_text(path);
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before it was killed";
  const lab::Json runs = lab::Json::parse(file_text(path)).at("runs");
  EXPECT_GE(runs.size(), 1u);
  EXPECT_LT(runs.size(), 5u);
  for (const lab::Json& run : runs) EXPECT_EQ(run.at("verified"), "full");
}

// This build's own images as those of another build: the same code twice.
TEST_F(BenchRecords, AnotherBuildsImagesRunByTheSamePlan) {
  const std::string images = beside_test("images");
  if (!std::filesystem::exists(images)) GTEST_SKIP() << "no files of images here";
  const Ran ran = run_program({"bench", "--device", "virtual", "--kernel", "02,simt_f32/64x32",
                               "-m", "70", "--against", images, "--json", "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const lab::Json runs = lab::Json::parse(ran.out).at("runs");
  ASSERT_EQ(runs.size(), 4u);
  for (const int own : {0, 2}) {
    EXPECT_EQ(runs.at(own).at("build"), "this");
    EXPECT_EQ(runs.at(own + 1).at("build"), "other");
    EXPECT_EQ(runs.at(own + 1).at("verified"), "full");
    EXPECT_EQ(runs.at(own + 1).at("image_hash"), runs.at(own).at("image_hash"));
    EXPECT_EQ(runs.at(own + 1).at("counts"), runs.at(own).at("counts"));
    EXPECT_TRUE(contains(command_of(runs.at(own)), " --against " + images));
  }
}

// A table of both builds takes their commits from the file.
TEST_F(BenchRecords, TheCommitOfAnotherBuildIsKept) {
  const auto environment = [](const Words& more) {
    Words call = {"bench", "--device", "virtual", "--kernel", "02", "-m", "8", "--json", "-"};
    call.insert(call.end(), more.begin(), more.end());
    const Ran ran = run_program(call);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return lab::Json::parse(ran.out).at("environment");
  };
  const std::string pack = beside_test("tessera.images");
  if (!std::filesystem::exists(pack)) GTEST_SKIP() << "no pack here";
  const lab::Json both = environment({"--against", pack});
  EXPECT_EQ(both.at("other_commit"), both.at("commit")) << "this build's own pack";
  EXPECT_FALSE(environment({}).contains("other_commit"));
}

TEST_F(BenchRecords, AnotherBuildThatLacksTheKernelIsSaid) {
  const TemporaryFolder folder;
  const Words call = {"bench", "--device", "virtual",   "--kernel", "02",
                      "-m",    "8",        "--against", folder / ""};
  const Ran empty = run_program(call);
  EXPECT_EQ(empty.code, 2);
  EXPECT_TRUE(contains(empty.err, "--against is '")) << empty.err;
  write_text(folder / "03_shared_tile.sm_90a.cubin", "x");
  const Ran without = run_program(call);
  EXPECT_EQ(without.code, 0);  // the run goes on with what there is
  EXPECT_TRUE(contains(without.out, "no image of 02_coalesced")) << without.out;
  // Another kernel's code under the name: its entry is missing.
  const std::string images = beside_test("images");
  if (!std::filesystem::exists(images)) return;
  write_text(folder / "02_coalesced.sm_90a.cubin", "x");
  write_text(folder / "02_coalesced.ptx", file_text(images + "/01_strided__32x32.ptx"));
  Words json = call;
  json.insert(json.end(), {"--json", "-"});
  const Ran other = run_program(json);
  EXPECT_EQ(other.code, 0) << other.err;
  const lab::Json runs = lab::Json::parse(other.out).at("runs");
  EXPECT_EQ(runs.at(0).at("verified"), "full");
  EXPECT_TRUE(runs.at(1).at("verified").is_null());
  EXPECT_TRUE(contains(runs.at(1).at("reason"), "rung_02_coalesced")) << runs.at(1).at("reason");
}

TEST_F(BenchRecords, PackedOperandsAreVerifiedAndToldApart) {
  const Ran run =
      run_program({"bench", "--device", "virtual", "--kernel", "wgmma_f16x3/128x64x32_s8", "-m",
                   "40", "-n", "70", "-k", "90", "--packed", "b", "--json", "-"});
  EXPECT_EQ(run.code, 0) << run.err;
  const lab::Json record = lab::Json::parse(run.out).at("runs").at(0);
  EXPECT_EQ(record.at("packed"), "b");
  EXPECT_EQ(record.at("verified"), "full");
  EXPECT_TRUE(contains(record.at("command"), "--packed b")) << record.at("command");
  const Ran wrong = run_program({"bench", "--device", "virtual", "--packed", "c"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.err, "--packed is 'c', but must be a, b or ab")) << wrong.err;
  const Ran none = run_program(
      {"bench", "--device", "virtual", "--kernel", "simt_f32/64x32", "-m", "40", "--packed", "b"});
  EXPECT_TRUE(contains(none.out + none.err, "read operands as they are")) << none.out << none.err;
}

}  // namespace
}  // namespace tessera::cli
