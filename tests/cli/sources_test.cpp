// docs/sources.md: each command prints what its row says, after `make run` alone unless the row
// says that it needs more, and the row leads to the pages of the rungs that it names.
// TESSERA_UPDATE_PAGES=1 writes the rows anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "catalog/image_pack.h"
#include "tests/support/beside.h"
#include "tests/support/program.h"
#include "tools/build/manifest_lines.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

const char* const kPage = "docs/sources.md";
const char* const kNeedsLibrary = " after `make library`";
const char* const kNeedsGpu = "on a GPU";

// "| text | thing | `tessera ...` | `first line` | pages |"
struct Row {
  std::string text, thing, command, needs, said, pages;
  std::string line() const {
    return "| " + text + " | " + thing + " | `" + command + "`" + needs + " | " + said + " | " +
           pages + " |";
  }
};

// The arguments of "tessera explain 03 --element 'tile_a[5][7]'".
std::vector<std::string> arguments_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      is_quoted = !is_quoted;
    } else if (c == ' ' && !is_quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  words.erase(words.begin());
  return words;
}

// Without spaces twice in a row, so that the columns of a table fit into a cell.
std::string squeezed(const std::string& line) {
  std::istringstream words(line);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

// The lines that say something, as a cell of a table shows them.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> cells;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string cell = squeezed(line);
    std::ranges::replace(cell, '|', '/');
    std::ranges::replace(cell, '`', '\'');
    if (!cell.empty()) cells.push_back("`" + cell + "`");
  }
  return cells;
}

// "`first line` <br> `a line further down`"
std::vector<std::string> parts_of(const std::string& cell) {
  constexpr const char* kBreak = " <br> ";
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t next; (next = cell.find(kBreak, at)) != std::string::npos; at = next + 6) {
    parts.push_back(cell.substr(at, next - at));
  }
  parts.push_back(cell.substr(at));
  return parts;
}

// The line of the output that begins with most of the words of this one; "" where none shares the
// first.
std::string line_like(const std::string& line, const std::vector<std::string>& lines) {
  std::string best;
  std::size_t most = line.find(' ');
  for (const std::string& other : lines) {
    const auto end = std::ranges::mismatch(line, other).in1 - line.begin();
    if (static_cast<std::size_t>(end) <= most) continue;
    most = end;
    best = other;
  }
  return best;
}

// What the cell of a command should say: its first line, and the lines further down that the page
// chose. A line that is not printed is none: the page cannot speak for the program.
std::string current_cell(const std::string& cell, const std::string& out) {
  const std::vector<std::string> lines = lines_of(out), parts = parts_of(cell);
  if (lines.empty()) return "";
  std::string current = lines.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool is_there = std::ranges::find(lines, parts[i]) != lines.end();
    const std::string line = is_there ? parts[i] : line_like(parts[i], lines);
    EXPECT_FALSE(line.empty()) << "no line like " << parts[i] << " in\n" << out;
    if (!line.empty()) current += " <br> " + line;
  }
  return current;
}

// Nothing of a line that is no row of a command.
std::vector<Row> row_of(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream cells(line);
  for (std::string cell; std::getline(cells, cell, '|');) columns.push_back(squeezed(cell));
  if (columns.size() != 6 || !columns[3].starts_with("`tessera ")) return {};
  const std::size_t end = columns[3].find('`', 1);
  return {{columns[1], columns[2], columns[3].substr(1, end - 1), columns[3].substr(end + 1),
           columns[4], columns[5]}};
}

// Links to the pages of the rungs that a command names by number: "12/staged", "20,21,22".
std::string pages_of(const std::string& command) {
  std::string links;
  std::string words = command;
  std::ranges::replace(words, ',', ' ');
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    const std::string number = word.substr(0, word.find('/'));
    if (number.size() != 2 || number.find_first_not_of("0123456789") != number.npos) continue;
    for (const auto& entry : fs::directory_iterator("src/ladder")) {
      const std::string name = entry.path().filename();
      const std::string link = "[" + number + "](../src/ladder/" + name + "/README.md)";
      if (!name.starts_with(number + "_") || contains(links, link)) continue;
      links += (links.empty() ? "" : ", ") + link;
    }
  }
  return links.empty() ? "[ladder](performance.md)" : links;
}

// The program with the images alone that `make run` compiles.
class Sources : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
    if (!fs::exists(beside_test("images"))) GTEST_SKIP() << "the build's images did not travel";
    fs::copy_file(beside_test("tessera"), shown_ / "tessera");
    const std::vector<build::ManifestImage> images =
        build::read_manifest("src/catalog/manifest.txt");
    std::vector<PackedImage> packed;
    for (const build::ManifestImage& image : images) {
      if (contains(image.line + " ", " shown ")) packed.push_back(packed_of(image, images));
    }
    const ImagePack all(beside_test("tessera.images"));
    write_text(shown_ / "tessera.images", image_file(all.origin(), packed));
  }

  static PackedImage packed_of(const build::ManifestImage& image,
                               const std::vector<build::ManifestImage>& images) {
    const std::string from = build::value_of(image.line, "patched_from");
    const auto code = std::ranges::find_if(images, [&](const auto& other) {
      return other.name() == (from.empty() ? image.name() : from);
    });
    const std::string stem = beside_test("images/" + code->name());
    const std::string portable = build::value_of(code->line, "portable");
    return {.name = image.name(),
            .portable_arch = portable == "0" ? "" : "compute_" + portable,
            .cubin_archs = {"sm_90a"},
            .text = file_text(stem + ".text"),
            .code = file_text(stem + ".code"),
            .patch = from.empty() ? "" : file_text(stem + ".patch")};
  }

  Ran run_shown(const std::string& command) const {
    return run_program(arguments_of(command), {}, shown_ / "tessera");
  }

  // The row as it should be.
  Row current(Row row) const {
    row.pages = pages_of(row.command);
    if (row.said == kNeedsGpu) return row;
    Ran ran = run_shown(row.command);
    const bool needs_more = ran.code != 0 && contains(ran.err, "'make library'");
    row.needs = needs_more ? kNeedsLibrary : "";
    if (needs_more) ran = run_program(arguments_of(row.command));
    EXPECT_EQ(ran.code, 0) << row.command << "\n" << ran.err;
    row.said = current_cell(row.said, ran.out);
    return row;
  }

  TemporaryFolder shown_;
};

TEST_F(Sources, EveryCommandPrintsWhatItsRowSays) {
  std::istringstream lines(file_text(kPage));
  const bool updates = std::getenv("TESSERA_UPDATE_PAGES") != nullptr;
  std::string page;
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    for (const Row& row : row_of(line)) {
      ++rows;
      const std::string now = current(row).line();
      if (!updates) {
        EXPECT_EQ(now, line) << row.command;
      }
      line = now;
    }
    page += line + "\n";
  }
  EXPECT_GE(rows, 40);
  if (updates) write_text(kPage, page);
}

TEST(SourcesCells, ALineThatIsNotPrintedIsNotThePages) {
  EXPECT_EQ(line_like("`registers per thread 40`", {"`counts`", "`registers per thread 44`"}),
            "`registers per thread 44`");
  EXPECT_EQ(line_like("`registers per thread 40`", {"`counts`"}), "");
}

}  // namespace
}  // namespace tessera::cli
