// docs/check.md shows what the program says: this test runs the calls of the page and compares.
// With TESSERA_UPDATE_PAGES in the environment it writes the page anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::checking {
namespace {

const std::string kPage = TESSERA_SOURCE_DIR "/docs/check.md";
const std::string kEnd = "<!-- end -->";

// "$ tessera ..." and what it says. Without nvcc the PTX beside a source stands for it: the same
// code, and so the same words but for the name of the file.
std::string session(const std::string& call) {
  std::vector<std::string> words;
  std::istringstream stream(call);
  for (std::string word; stream >> word;) words.push_back(word);
  const std::string source = words.at(1), stem = source.substr(0, source.rfind('.'));
  words[1] = stem + ".ptx";
  const Ran ran = run_program(words);
  std::string text = "$ build/tessera " + call + "\n" + ran.err + ran.out;
  for (const std::string before : {"\n  ", "\nagain: "}) {
    const std::string plain = before + "tessera check ";
    for (std::size_t at; (at = text.find(plain)) != std::string::npos;) {
      text.replace(at, plain.size(), before + "build/tessera check ");
    }
  }
  for (std::size_t at; (at = text.find(stem + ".ptx")) != std::string::npos;) {
    text.replace(at, stem.size() + 4, source);
  }
  return text;
}

std::string without_trailing_spaces(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

// The page with every marked block as it should be.
std::string renewed(const std::string& page) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t begin; (begin = page.find("<!-- ", at)) != std::string::npos;) {
    const std::size_t colon = page.find(": ", begin), close = page.find(" -->\n", begin);
    const std::size_t end = page.find(kEnd, close);
    const std::string kind = page.substr(begin + 5, colon - begin - 5);
    const std::string what = page.substr(colon + 2, close - colon - 2);
    const std::string text = kind == "source" ? file_text(what) : session(what);
    out += page.substr(at, close + 5 - at) + "```\n" + without_trailing_spaces(text) + "```\n";
    out += kEnd;
    at = end + kEnd.size();
  }
  return out + page.substr(at);
}

TEST(CheckPage, ShowsWhatTheProgramSays) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const std::string page = file_text(kPage), now = renewed(page);
  ASSERT_GT(std::count(page.begin(), page.end(), '!'), 7);
  if (std::getenv("TESSERA_UPDATE_PAGES")) return write_text(kPage, now);
  EXPECT_EQ(page, now) << "TESSERA_UPDATE_PAGES=1 test_cli --gtest_filter='CheckPage.*'";
}

}  // namespace
}  // namespace tessera::checking
