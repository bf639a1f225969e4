// Calls of tessera check, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::checking {

using Words = std::vector<std::string>;

inline const std::string kFolder = TESSERA_SOURCE_DIR "/tests/check/kernels/";
inline const std::string kKernels = kFolder + "kernels.ptx";

inline Words joined(Words one, const Words& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

class Check : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }

  static Ran check(const Words& words) { return run_program(joined({"check"}, words)); }

  static Words transpose(const std::string& file) {
    return {kFolder + file,   "--grid",  "2,2",
            "--block",        "32,8",    "--arg",
            "out=f32[64,64]", "--arg",   "in=f32[64,64]:iota",
            "--arg",          "n=i32:64"};
  }

  // Exit code 2, nothing on stdout, and each of the parts on stderr.
  static void expect_refused(const Words& words, const Words& parts) {
    std::string shown;
    for (const std::string& word : words) shown += " " + word.substr(0, 200);
    SCOPED_TRACE("tessera check" + shown);
    const Ran ran = check(words);
    EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.err.starts_with("tessera check: ")) << ran.err;
    for (const std::string& part : parts) {
      EXPECT_TRUE(contains(ran.err, part)) << "lacks '" << part << "': " << ran.err;
    }
  }
};

}  // namespace tessera::checking
