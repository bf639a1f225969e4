// The pages of the ladder: every rung explains itself in the same sections, and every generated
// table is what tools/tables/update_tables.py makes of results/ today.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

namespace fs = std::filesystem;

bool has_python() { return std::system("command -v python3 > /dev/null") == 0; }

// Exit code of the check; what it prints is shown by the test that fails.
int check_tables(const std::string& options) {
  const std::string command =
      "PYTHONDONTWRITEBYTECODE=1 tools/tables/update_tables.py --check " + options;
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Pages, EveryRungHasAReadmeWithAllSections) {
  int rungs = 0;
  for (const SourceFile& config : files_in("src/ladder/", {"/config.h"})) {
    ++rungs;
    const std::string page = fs::path(config.path).parent_path().string() + "/README.md";
    const std::vector<SourceFile> found = files_in(page, {".md"});
    ASSERT_EQ(found.size(), 1u) << page;
    std::size_t at = 0;
    for (const char* heading :
         {"## What limited the last rung\n", "## The idea\n", "## Prediction\n", "## Counts\n",
          "## Measurement\n", "## What limits it now\n"}) {
      at = found[0].text.find(heading, at);
      ASSERT_NE(at, std::string::npos) << page << " lacks, at its place: " << heading;
    }
    EXPECT_NE(found[0].text.find("**Predicted:** at most "), std::string::npos) << page;
    EXPECT_NE(found[0].text.find("**Limited by:** "), std::string::npos) << page;
  }
  EXPECT_GE(rungs, 20);
}

// Words in backticks that begin like a path of src/ and do not name a file or folder there.
std::vector<std::string> missing_paths(const std::string& text) {
  static const std::regex kPath(
      "`((?:base|problem|launch|arch|kernels|ladder|catalog|gemm|device|vgpu|sass|lab|check|cli)/"
      "[a-z0-9_/.]*[a-z0-9])`");
  std::vector<std::string> missing;
  for (std::sregex_iterator it(text.begin(), text.end(), kPath), end; it != end; ++it) {
    const fs::path path = "src/" + (*it)[1].str();
    const auto with = [&](const char* ending) { return fs::exists(path.string() + ending); };
    if (!with("") && !with(".h") && !with(".cpp")) missing.push_back((*it)[1]);
  }
  return missing;
}

// The hops of an element, and every other place that a page of the house names.
TEST(Pages, PlacesThatAreNamedExist) {
  for (const SourceFile& page : files_in("docs/", {".md"})) {
    for (const std::string& path : missing_paths(page.text)) {
      ADD_FAILURE() << page.path << " names src/" << path << ", which is not there";
    }
  }
  EXPECT_EQ(missing_paths("`gemm/gone.cpp`, `gemm/plan`, `kernels/copy`"),
            std::vector<std::string>{"gemm/gone.cpp"});
}

// Headers of operations in backticks that are none.
std::vector<std::string> missing_headers(const std::string& text) {
  static const std::regex kHeader("`([a-z_]+\\.h)`");
  std::vector<std::string> missing;
  for (std::sregex_iterator it(text.begin(), text.end(), kHeader), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (!fs::exists("src/vgpu/exec/ops/" + name)) missing.push_back(name);
  }
  return missing;
}

TEST(Pages, AnInstructionGoesIntoAHeaderThatExists) {
  const SourceFile page = files_in("docs/how-to/add-an-instruction.md", {".md"}).at(0);
  EXPECT_NE(page.text.find("`bits.h`"), std::string::npos);
  EXPECT_EQ(missing_headers(page.text), std::vector<std::string>{});
  EXPECT_EQ(missing_headers("`bits.h`, `halves.h`"), std::vector<std::string>{"halves.h"});
}

// Paths of a page's links and pictures that do not exist, as the page has them.
std::vector<std::string> dead_links(const SourceFile& page) {
  static const std::regex kLink(R"re(\]\(([^)#\s]+)[^)\s]*\)|(?:src|srcset)="([^"]+)")re");
  std::vector<std::string> dead;
  for (std::sregex_iterator it(page.text.begin(), page.text.end(), kLink), end; it != end; ++it) {
    const std::string to = (*it)[1].matched ? (*it)[1] : (*it)[2];
    const bool is_here = to.find("://") == std::string::npos && !to.starts_with("mailto:");
    if (is_here && !fs::exists(fs::path(page.path).parent_path() / to)) dead.push_back(to);
  }
  return dead;
}

TEST(Pages, LinksLeadToFiles) {
  for (const SourceFile& page : files_in("", {".md"})) {
    if (page.path.starts_with("tools/templates/")) continue;  // of pages elsewhere
    for (const std::string& to : dead_links(page)) {
      ADD_FAILURE() << page.path << " links " << to << ", which is not there";
    }
  }
  EXPECT_EQ(dead_links({"docs/a.md", "[b](b.md#c) [code](../README.md) <img src=\"d.svg\">"}),
            (std::vector<std::string>{"b.md", "d.svg"}));
}

// From the list of what may be changed.
TEST(Pages, TheReadmeLinksHowToAddACommand) {
  const std::string readme = files_in("README.md", {"README.md"}).at(0).text;
  EXPECT_NE(readme.find("[a command](docs/architecture.md#a-command)"), std::string::npos);
  const std::string page = files_in("docs/architecture.md", {".md"}).at(0).text;
  const std::size_t begin = page.find("\n## A command\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  for (const char* part : {"`list.cpp`", "`--json`", "`Output`", "`tessera NAME`",
                           "`cmake --build build`", "`tests/cli`", "finds by itself"}) {
    EXPECT_NE(section.find(part), std::string::npos) << part;
  }
}

TEST(Pages, GeneratedTablesFollowTheResults) {
  if (!has_python()) GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(check_tables(""), 0) << "run: tools/tables/update_tables.py";
}

TEST(Pages, AStaleTableIsFound) {
  if (!has_python()) GTEST_SKIP() << "python3 is not installed";
  const fs::path root = fs::path(testing::TempDir()) / "stale_pages";
  fs::remove_all(root);
  const fs::path rung = root / "src/ladder/01_strided";
  fs::create_directories(rung);
  fs::copy("results", root / "results", fs::copy_options::recursive);
  fs::copy("src/ladder/01_strided/kernel.cu", rung);
  fs::copy("src/ladder/01_strided/README.md", rung);
  const std::string options = "--root " + root.string() + " > /dev/null";
  EXPECT_EQ(check_tables(options), 0);

  std::string page = files_in("src/ladder/01_strided/README.md", {".md"}).at(0).text;
  page.insert(page.find("<!-- measured end -->"), "| 99 TFLOP/s |\n");
  std::ofstream(rung / "README.md") << page;
  EXPECT_EQ(check_tables(options), 1);
  fs::remove_all(root);
}

}  // namespace
}  // namespace tessera::house
