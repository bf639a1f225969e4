// The ladder: a row a rung, and no kernel that `make run` does not compile.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "cli/terminal/live_table.h"
#include "lab/json/json.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Ladder, PrintsARowARung) {
  const TemporaryFolder folder;
  const Ran ran =
      run_program({"ladder", "--device", "virtual", "--kernel", "01,02,23", "-m", "64", "-n", "32",
                   "-k", "16", "--md", folder / "t.md", "--json", folder / "t.json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {"64 x 32 x 16 on the virtual GPU", "01_strided", "02_coalesced",
                           "23_packed_conflict_free", "full", "error/bound", "FMA:LDS"}) {
    EXPECT_TRUE(contains(ran.out, part)) << part << "\n" << ran.out;
  }
  EXPECT_TRUE(contains(file_text(folder / "t.md"), "| 02_coalesced |"));
  const lab::Json object = lab::Json::parse(file_text(folder / "t.json"));
  EXPECT_EQ(object.at("runs").size(), 3u);
  EXPECT_EQ(ran.err, "");  // no bar where there is no terminal
  EXPECT_TRUE(contains(ran.out, "(simt, vector, dmma, small, wgmma, mma, mixed) are not rungs"))
      << ran.out;
}

// Without --kernel the rungs alone run: `make run` compiles nothing else.
TEST(Ladder, ShowsRungs) {
  const Words call = {"ladder", "--device", "virtual", "-m", "16", "--json", "-"};
  const lab::Json object = lab::Json::parse(run_program(call).out);
  std::vector<std::string> names, rungs;
  for (const lab::Json& run : object.at("runs")) names.push_back(run.at("kernel"));
  for (const KernelChoice& rung : choose_kernels("rungs")) rungs.push_back(rung.kernel->name);
  EXPECT_EQ(names, rungs);
  const Ran library =
      run_program({"ladder", "--device", "virtual", "--kernel", "simt_f32", "-m", "16"});
  EXPECT_EQ(library.code, 0) << library.err;
  EXPECT_FALSE(contains(library.out, "are not rungs")) << library.out;
}

// What a newcomer reads first: which idea, at which shape, and how much work it was.
TEST(Ladder, SaysIdeaShapeAndInstructions) {
  const Ran ran = run_program(
      {"ladder", "--device", "virtual", "--kernel", "02", "-m", "64", "-n", "32", "-k", "16"});
  for (const char* part : {"64 x 32 x 16", "lane instructions", "idea", "lanes along a row"}) {
    EXPECT_TRUE(contains(ran.out, part)) << part << "\n" << ran.out;
  }
  EXPECT_FALSE(contains(ran.out, "wider terminal")) << ran.out;
}

TEST(LiveTable, LeavesOutWhatHasNoRoom) {
  const std::vector<LiveColumn> all = {{"rung", 6}, {"idea", 20}, {"ms", 5, true}};
  const auto names_at = [&all](std::size_t width) {
    std::vector<LiveColumn> columns = all;
    std::string names;
    const Words left_out = fit_to_width(columns, width, {"none", "idea", "ms"});
    for (const LiveColumn& column : columns) names += column.header + " ";
    return names + fmt::format("- {}", fmt::join(left_out, " "));
  };
  EXPECT_EQ(names_at(0), "rung idea ms - ");
  EXPECT_EQ(names_at(35), "rung idea ms - ");  // 6 + 2 + 20 + 2 + 5
  EXPECT_EQ(names_at(34), "rung idea - ms");
  EXPECT_EQ(names_at(28), "rung idea - ms");
  EXPECT_EQ(names_at(27), "rung ms - idea");  // what is wanted less may still have room
  EXPECT_EQ(names_at(13), "rung ms - idea");
  EXPECT_EQ(names_at(12), "rung - idea ms");
  EXPECT_EQ(names_at(1), "rung - idea ms");
}

}  // namespace
}  // namespace tessera::cli
