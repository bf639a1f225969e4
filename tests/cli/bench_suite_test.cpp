// bench --suite drawn without a GPU: what it refuses, by name, before anything runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

class BenchSuite : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }

  void expect_refused(std::vector<std::string> words, const std::vector<std::string>& parts) {
    words.insert(words.begin(), {"bench", "--device", "virtual"});
    const Ran ran = run_program(words);
    EXPECT_NE(ran.code, 0);
    EXPECT_EQ(ran.out, "");
    for (const std::string& part : parts) EXPECT_TRUE(contains(ran.err, part)) << ran.err;
  }
};

TEST_F(BenchSuite, NeedsAGpu) {
  expect_refused({"--suite", "goals", "--sweep"}, {"--suite is 'goals'", "no GPU", "no clock"});
  expect_refused({"--suite", "drawn"}, {"--suite is 'drawn'", "no GPU", "no clock"});
}

TEST_F(BenchSuite, RefusesAnOptionThatItWouldIgnore) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--kernel", "12"},
                                             {"-m", "8"},
                                             {"--type", "f64"},
                                             {"--mode", "burst"},
                                             {"--rounds", "2"},
                                             {"--no-verify"},
                                             {"--fill", "normal"},
                                             {"--energy"}}) {
    std::vector<std::string> call{"--suite", "drawn"};
    call.insert(call.end(), words.begin(), words.end());
    expect_refused(call, {words[0] + " is given", "leave it out"});
  }
}

TEST_F(BenchSuite, RefusesBadNumbers) {
  expect_refused({"--suite", "drawn", "--cells", "0"}, {"--cells is '0'", "1"});
  expect_refused({"--suite", "drawn", "--cells", "x"}, {"--cells is 'x'"});
  expect_refused({"--suite", "drawn", "--minutes", "0"}, {"--minutes is '0'", "more than 0"});
  expect_refused({"--suite", "drawn", "--minutes", "-3"}, {"--minutes is '-3'"});
  expect_refused({"--suite", "drawn", "--sweep", "--within", "0.9"}, {"--within is '0.9'", "1"});
  expect_refused({"--suite", "drawn", "--sweep", "--csv", "/tmp/x.csv"}, {"--json alone"});
  expect_refused({"--suite", "drawn", "--within", "2"}, {"--within is '2'", "needs --sweep"});
  expect_refused({"--suite", "goals", "--cells", "5"}, {"--cells is '5'", "goals has its own"});
  expect_refused({"--suite", "losses", "--cells", "5"}, {"--cells is '5'", "losses has its own"});
  expect_refused({"--suite", "goals", "--against-costs", "a100"},
                 {"--against-costs is 'a100'", "h200"});
  expect_refused({"--suite", "goals", "--against-costs", "no_such.inc"},
                 {"--against-costs is 'no_such.inc'", "file"});
  expect_refused({"--suite", "goals", "--sweep", "--against-costs", "h200"},
                 {"--against-costs is 'h200'", "not beside --sweep"});
  expect_refused({"--suite", "drawn", "--fp32", "tf32"}, {"--fp32 is 'tf32'", "f16x3"});
  expect_refused({"--suite", "drawn", "--sweep", "--fp32", "f16x3"}, {"--fp32", "--sweep"});
  expect_refused({"--suite", "drawn", "--cells", "5", "--both-ways", "6"},
                 {"--both-ways is '6'", "5"});
}

TEST_F(BenchSuite, ItsOptionsNeedIt) {
  expect_refused({"--cells", "5"}, {"--cells is '5'", "needs --suite drawn"});
  expect_refused({"--minutes", "5"}, {"--minutes is '5'", "needs --suite drawn"});
  expect_refused({"--both-ways", "5"}, {"--both-ways is '5'", "needs --suite drawn"});
  expect_refused({"--against-costs", "h200"}, {"--against-costs is 'h200'", "needs --suite drawn"});
  expect_refused({"--fp32", "f16x3"}, {"--fp32 is 'f16x3'", "needs --suite drawn"});
  expect_refused({"--sweep", "-m", "8"}, {"--sweep is given", "needs --suite drawn"});
}

}  // namespace
}  // namespace tessera::cli
