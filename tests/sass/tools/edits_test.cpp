// Edits that shorten a wait or a stall change that and nothing else.
#include "tools/sass_hazards/edits.h"

#include <gtest/gtest.h>

#include <set>

#include "sass/model/hazards.h"
#include "sass/rewrite/encode.h"

namespace tessera::sass {
namespace {

Program subject() {
  constexpr Instruction kExit = {0x000000000000794d, 0x000fea0003800000};
  CubinKernel kernel;
  kernel.name = "edited";
  kernel.code = {with_control(lds(32, 0, 8, 0), {.stall = 2, .write_scoreboard = 0}),
                 with_control(lds(32, 1, 8, 4), {.stall = 2, .write_scoreboard = 1}),
                 with_control(fadd(2, 0, 1), {.stall = 4, .wait_mask = 3}),
                 with_control(fadd(3, 2, 2), {.stall = 1}),
                 kExit,
                 nop()};
  return program_of(kernel, 90);
}

TEST(Edits, EachShortensOneWaitOrOneStall) {
  const Program program = subject();
  std::mt19937_64 random(1);
  const std::vector<Edit> edits = edits_of(program, random);
  int waits = 0;
  std::set<std::size_t> stalls;
  for (const Edit& edit : edits) {
    const Program changed = edited(program, edit);
    const Control &before = program.operations[edit.at].control,
                  &after = changed.operations[edit.at].control;
    if (edit.kind == Edit::Kind::kWait) {
      EXPECT_EQ(edit.at, 2u);
      EXPECT_EQ(after.wait_mask, 3u & ~(1u << edit.scoreboard));
      EXPECT_EQ(after.stall, before.stall);
      ++waits;
    } else {
      stalls.insert(edit.at);
      EXPECT_GE(after.stall, 1);
      EXPECT_LT(after.stall, before.stall);
      EXPECT_EQ(after.wait_mask, before.wait_mask);
    }
    for (std::size_t at = 0; at < program.code.size(); ++at) {
      EXPECT_EQ(changed.code[at].low, program.code[at].low);
      if (at != edit.at) {
        EXPECT_EQ(changed.code[at].high, program.code[at].high);
      }
    }
  }
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(stalls, (std::set<std::size_t>{0, 1, 2, 4}));  // not in the padding, nor where it is 1
}

TEST(Edits, AreNoticedWhereTheyMatter) {
  const Program program = subject();
  EXPECT_TRUE(find_hazards(program).empty());
  std::mt19937_64 random(1);
  for (const Edit& edit : edits_of(program, random)) {
    if (edit.kind == Edit::Kind::kStall && edit.at < 2) continue;  // the last load is waited for
    EXPECT_FALSE(find_hazards(edited(program, edit)).empty()) << edit.at;
  }
}

}  // namespace
}  // namespace tessera::sass
