// Pages that show what the program prints or draws are current. TESSERA_UPDATE_PAGES=1 writes them
// anew: docs/sass.md, and the drawings that the rungs' pages begin with. docs/sources.md has a test
// of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

const char* const kMachineCode = "docs/sass.md";

bool updates() { return std::getenv("TESSERA_UPDATE_PAGES") != nullptr; }

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  }
};

std::string percent_of(const lab::Json& share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share.get<double>());
  return text;
}

// A row of the table of cards: what one of them says of the main loop of rung 12.
struct Row {
  const char* name;
  std::function<std::string(const lab::Json& kernel, const lab::Json& loop)> cell;
};

std::vector<Row> rows_of_cards() {
  const auto number = [](const lab::Json& value) {
    return std::to_string(std::lround(value.get<double>()));
  };
  const auto issue = [](const lab::Json& loop) {
    return loop.at("ceiling").get<double>() > loop.at("ffma_share").get<double>() ? 2 : 1;
  };
  return {
      {"registers per thread",
       [=](const auto& kernel, const auto&) { return number(kernel.at("registers")); }},
      {"cycles for which an FFMA holds its pipe",
       [=](const auto&, const auto& loop) { return std::to_string(issue(loop)); }},
      {"instructions of an iteration, FFMAs",
       [=](const auto&, const auto& loop) {
         return number(loop.at("slots")) + ", " + number(loop.at("ffma"));
       }},
      {"issue slots between FFMAs that cost nothing",
       [=](const auto&, const auto& loop) {
         return std::to_string((issue(loop) - 1) * loop.at("ffma").template get<int>());
       }},
      {"ceiling: by issue slots, with register ports (model)",
       [=](const auto&, const auto& loop) {
         return percent_of(loop.at("ceiling")) + ", " + percent_of(loop.at("ports").at("ceiling"));
       }},
      {"FFMAs with two sources or more in one bank",
       [=](const auto&, const auto& loop) { return number(loop.at("ports").at("crowded_ffmas")); }},
      {"cycles that the ports lose (model)",
       [=](const auto&, const auto& loop) { return number(loop.at("ports").at("bubbles")); }},
      {"verdict", [=](const auto&, const auto& loop) {
         return loop.at("verdict").template get<std::string>().substr(9);
       }}};
}

// The page that puts the verdicts on one kernel for four cards side by side.
TEST_F(Pages, TheVerdictsOnFourCardsAreCurrent) {
  const std::vector<std::pair<std::string, std::string>> cards = {{"2080ti", "sm_75, 2080 Ti"},
                                                                  {"a100", "sm_80, A100"},
                                                                  {"rtx3090", "sm_86, RTX 3090"},
                                                                  {"h200", "sm_90, H200"}};
  std::string header = "| |", line = "|---|";
  std::vector<lab::Json> kernels;
  for (const auto& [gpu, name] : cards) {
    const Ran ran = run_program({"sass", "12", "--gpu", gpu, "--no-run", "--json", "-"});
    if (contains(ran.err, "needs nvcc")) GTEST_SKIP() << "no nvcc";
    ASSERT_EQ(ran.code, 0) << ran.err;
    kernels.push_back(lab::Json::parse(ran.out).at("kernels").at(0));
    header += " " + name + " |";
    line += "---|";
  }
  std::string table = header + "\n" + line + "\n";
  for (const Row& row : rows_of_cards()) {
    table += std::string("| ") + row.name + " |";
    for (const lab::Json& kernel : kernels) {
      for (const lab::Json& loop : kernel.at("loops")) {
        if (loop.at("is_main")) table += " " + row.cell(kernel, loop) + " |";
      }
    }
    table += "\n";
  }
  std::string page = file_text(kMachineCode);
  const std::string begin = "<!-- verdicts begin -->\n", end = "<!-- verdicts end -->";
  const std::size_t from = page.find(begin) + begin.size(), to = page.find(end);
  ASSERT_LE(from, to) << kMachineCode;
  if (!updates()) {
    EXPECT_EQ(page.substr(from, to - from), table);
  }
  if (updates()) write_text(kMachineCode, page.replace(from, to - from, table));
}

// Folders of the ladder, in its order.
std::vector<std::string> rungs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("src/ladder")) {
    const std::string name = entry.path().filename();
    if (name.front() >= '0' && name.front() <= '9') names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// What draws a rung: the step to it from the rung before, or what src/ladder/drawings.txt says,
// where a rung is alone or in front of the one that it is drawn beside.
std::vector<std::string> drawing_of(const std::vector<std::string>& names, std::size_t at) {
  std::istringstream lines(file_text("src/ladder/drawings.txt"));
  std::string beside = at > 0 ? names[at - 1] : "";
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, other;
    words >> name >> other;
    if (name == names[at]) beside = other;
  }
  if (beside.empty()) return {"explain", names[at], "--svg", "-"};
  return {"compare", beside, names[at], "--svg", "-"};
}

TEST_F(Pages, TheDrawingsOfTheRungsAreCurrent) {
  const std::vector<std::string> names = rungs();
  ASSERT_GT(names.size(), 20u);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Ran ran = run_program(drawing_of(names, i));
    ASSERT_EQ(ran.code, 0) << names[i] << ": " << ran.err;
    const std::string folder = "src/ladder/" + names[i] + "/", picture = folder + "picture.svg";
    if (updates()) write_text(picture, ran.out);
    EXPECT_TRUE(fs::exists(picture)) << picture;
    if (fs::exists(picture)) {
      EXPECT_EQ(file_text(picture) == ran.out, true) << picture;
    }
    const std::string page = file_text(folder + "README.md");
    EXPECT_LT(page.find("](picture.svg)"), page.find("\n## ")) << folder;
  }
}

// The drawing that rung 03's page shows of one word of its tile.
TEST_F(Pages, TheDrawingOfOneElementIsCurrent) {
  const Ran ran = run_program({"explain", "03", "--element", "tile_a[5][7]", "--svg", "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string picture = "src/ladder/03_shared_tile/element.svg";
  if (updates()) write_text(picture, ran.out);
  ASSERT_TRUE(fs::exists(picture));
  EXPECT_EQ(file_text(picture) == ran.out, true) << picture;
  EXPECT_TRUE(contains(file_text("src/ladder/03_shared_tile/README.md"), "](element.svg)"));
}

// The main loop of an entry.
lab::Json main_loop(const std::string& kernel, const std::string& entry) {
  const lab::Json shown = json_of({"sass", kernel, "--kernel", entry, "--no-run"});
  for (const lab::Json& loop : shown.at("kernels").at(0).at("loops")) {
    if (loop.at("is_main")) return loop;
  }
  ADD_FAILURE() << kernel << ' ' << entry << " has no main loop";
  return {};
}

int count_of(const lab::Json& loop, const char* kind, const char* name) {
  const lab::Json& mix = loop.at("mix");
  return mix.contains(kind) ? mix.at(kind).at("names").value(name, 0) : 0;
}

// Rung 13 says by count why it is slower than rung 12: these are the counts.
TEST_F(Pages, TheCountsOfRung13AreCurrent) {
  const std::string page = file_text("src/ladder/13_async_copy/README.md");
  const std::pair<const char*, const char*> layouts[] = {
      {"NT", "am_bn"}, {"TT", "am_bk"}, {"NN", "ak_bn"}, {"TN", "ak_bk"}};
  for (const auto& [layout, entry] : layouts) {
    for (const char* kernel : {"13", "14/serpentine"}) {
      const lab::Json loop = main_loop(kernel, entry);
      char row[64];
      std::snprintf(row, sizeof row, "\n| %s | %d, %d | %d | ", layout,
                    count_of(loop, "copy", "LDGSTS.32"), count_of(loop, "copy", "LDGSTS.128"),
                    loop.at("slots").get<int>());
      EXPECT_TRUE(contains(page, row)) << kernel << row;
    }
  }
  // Per sub-core and 16 steps: in rung 12 four warps with two iterations, in rung 13 two warps.
  const lab::Json before = main_loop("12", "ak_bn"), after = main_loop("13", "ak_bn");
  const auto row = [&](const char* name, const auto& count) {
    char text[128];
    std::snprintf(text, sizeof text, "| %s | %d | %d |", name, 8 * count(before), 2 * count(after));
    EXPECT_TRUE(contains(page, text)) << text;
  };
  row("issue slots of a sub-core: FFMAs",
      [](const lab::Json& loop) { return loop.at("ffma").get<int>(); });
  row("all issue slots", [](const lab::Json& loop) { return loop.at("slots").get<int>(); });
  row("with bubbles of the register ports (model)", [](const lab::Json& loop) {
    return static_cast<int>(loop.at("ports").at("cycles").get<double>());
  });
}

}  // namespace
}  // namespace tessera::cli
