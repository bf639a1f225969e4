// Shuffles, votes and matches bring the lanes of a warp together and order no memory.
#include <gtest/gtest.h>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckLanesMeet : public Check {
 protected:
  static Words by(const std::string& kernel, const std::string& meet) {
    return joined(
        launch("rules/lanes_meet.cu", kernel, "1", "64", {"out=f32[64]", "in=f32[64]:uniform"}),
        {"-D", meet});
  }
};

TEST_F(CheckLanesMeet, BySyncwarp) {
  expect_says(by("turned", "BY_WARP"), 0, {"clean: no finding\n"});
  expect_says(by("turned", "BY_BLOCK"), 0, {"clean: no finding\n"});
}

TEST_F(CheckLanesMeet, NotByWhatExchangesValues) {
  for (const char* meet : {"BY_SHUFFLE", "BY_VOTE", "BY_MATCH", "BY_SUM"}) {
    SCOPED_TRACE(meet);
    expect_says(by("turned", meet), 1,
                {"lockstep: Lane ", "orders no memory",
                 "do:    put __syncwarp() between line 23 and"
                 " line 25"});
  }
}

TEST_F(CheckLanesMeet, ExchangesOfValuesAloneAreClean) {
  expect_says(by("sums", "BY_WARP"), 0, {"clean: no finding\n"});
}

}  // namespace
}  // namespace tessera::checking
