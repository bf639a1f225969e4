// Calls of tessera check, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "check/arrays.h"
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

// Each of the parts is in the text, and none of the others.
inline void expect_parts(const std::string& text, const Words& parts, const Words& absent = {}) {
  for (const std::string& part : parts) {
    EXPECT_TRUE(contains(text, part)) << "lacks '" << part << "':\n" << text;
  }
  for (const std::string& part : absent) {
    EXPECT_FALSE(contains(text, part)) << "has '" << part << "':\n" << text;
  }
}

class Check : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }

  static Ran check(const Words& words) { return run_program(joined({"check"}, words)); }

  // The call ends with this code and says all of these.
  static void expect_says(const Words& words, int code, const Words& parts) {
    const Ran ran = check(words);
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    expect_parts(ran.out, parts);
  }

  static Ran explain(const Words& words) { return run_program(joined({"explain"}, words)); }

  // The words of a launch: file of kernels, kernel ("" for its only one), shape and arguments.
  static Words launch(const std::string& file, const std::string& kernel, const std::string& grid,
                      const std::string& block, const Words& arguments) {
    Words words = {kFolder + file, "--grid", grid, "--block", block};
    if (!kernel.empty()) words.insert(words.end(), {"--kernel", kernel});
    for (const std::string& argument : arguments) words.insert(words.end(), {"--arg", argument});
    return words;
  }
  static Words transpose(const std::string& file) {
    return launch(file, "", "2,2", "32,8", {"out=f32[64,64]", "in=f32[64,64]:iota", "n=i32:64"});
  }

  // What the kernel leaves in `out`; nothing where the call fails.
  static std::vector<double> result(const Words& words) {
    const TemporaryFolder folder;
    const Ran ran = check(joined(words, {"--out", "out=" + (folder / "out.npy")}));
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    if (ran.code != 0) return {};
    const HostArray out = read_array(folder / "out.npy", "out");
    std::vector<double> values;
    for (std::size_t i = 0; i < out.elements(); ++i) {
      values.push_back(load_element(out.type, out.bytes.data() + i * size_of(out.type)));
    }
    return values;
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
    expect_parts(ran.err, parts);
  }
};

}  // namespace tessera::checking
