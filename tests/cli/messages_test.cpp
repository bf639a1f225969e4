// What a refusal says: besides the argument, its value and the rule, what to do next.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

// The string literals of a call whose opening bracket is at `at`, as one text.
std::string literals_of(const std::string& source, std::size_t at) {
  std::string text;
  bool quoted = false;
  for (int depth = 0; at < source.size(); ++at) {
    const char c = source[at];
    if (c == '"' && source[at - 1] != '\\') {
      quoted = !quoted;
    } else if (quoted) {
      text += c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      break;
    }
  }
  return text;
}

// Every message of the room that refuses an argument.
std::vector<std::string> messages() {
  std::vector<std::string> all;
  const std::string call = "Status::bad_argument(";
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(TESSERA_SOURCE_DIR "/src/cli")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string source = file_text(file.path());
    for (std::size_t at = source.find(call); at != source.npos; at = source.find(call, at + 1)) {
      all.push_back(literals_of(source, at + call.size() - 1));
    }
  }
  return all;
}

// A rule that lists what is allowed is its own remedy; one that forbids needs a way out.
bool says_what_to_do(const std::string& message) {
  static const std::regex remedy("; |must be |must hold |must name .*: |needs .*: |needs both");
  return std::regex_search(message, remedy);
}

TEST(Messages, SayWhatToDoNext) {
  const std::vector<std::string> all = messages();
  EXPECT_GT(all.size(), 40u);
  for (const std::string& message : all) {
    const bool is_text = message.find(' ') != message.npos && message.size() > 12;
    if (is_text) {
      EXPECT_TRUE(says_what_to_do(message)) << message;
    }
  }
  EXPECT_FALSE(says_what_to_do("--a is '{}', but cannot be combined with --b"));
}

// "explain FILE.cu" has the arguments of check, and its errors are still those of explain.
TEST(Messages, AreSignedByTheCommandThatWasTyped) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const TemporaryFolder folder;
  const std::string file = folder / "copy.ptx";
  write_text(file,
             ".version 8.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry copy(.param .u64 x)\n{\n  ret;\n}\n");
  const std::vector<std::vector<std::string>> calls = {
      {file},                                                      // no grid
      {file, "--grid", "1", "--block", "32", "--arg", "x=f32[8"},  // a bad argument
      {folder / "missing.ptx"},
      {file, "--kernel", "other"}};
  for (const std::string command : {"explain", "check"}) {
    for (std::vector<std::string> call : calls) {
      call.insert(call.begin(), command);
      const Ran ran = run_program(call);
      EXPECT_EQ(ran.code, 2);
      EXPECT_TRUE(ran.err.starts_with("tessera " + command + ": ")) << ran.err;
      const std::string other = command == "explain" ? "tessera check:" : "tessera explain:";
      EXPECT_EQ(ran.err.find(other), ran.err.npos) << ran.err;
    }
  }
}

}  // namespace
}  // namespace tessera::cli
