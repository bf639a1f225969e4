// Memory that is reached too early or by a path that may not see it: a block of the cluster that
// has not started, the read-only path to what the kernel stores.
#include <gtest/gtest.h>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

using CheckMemoryPaths = Check;

TEST_F(CheckMemoryPaths, WhatTheKernelStoresIsNotForTheReadOnlyPath) {
  const Words call = launch("rules/read_only.cu", "neighbours", "1", "64",
                            {"out=f32[64]", "scratch=f32[64]", "in=f32[64]:uniform"});
  expect_says(call, 0, {"clean: no finding\n"});
  expect_says(joined(call, {"-D", "READ_ONLY"}), 1,
              {"error: stale-read-only: ", "read_only.cu:14: read 4 bytes of global memory",
               "read_only.cu:12: wrote this global memory", "do:    read it by an ordinary load"});
}

TEST_F(CheckMemoryPaths, WhatIsReadBeforeItIsStoredMayComeByAnyPath) {
  const Words call = launch("rules/read_only.cu", "in_place", "2", "64", {"x=f32[128]:uniform"});
  expect_says(call, 0, {"clean: no finding\n"});
  expect_says(joined(call, {"-D", "READ_ONLY"}), 0, {"clean: no finding\n"});
}

TEST_F(CheckMemoryPaths, BlocksOfAClusterMustHaveStarted) {
  const Words call = launch("rules/cluster_start.cu", "gives_away", "4", "32", {"out=u32[128]"});
  expect_says(call, 1,
              {"error: unstarted-cta: ", "which may not have started yet",
               "do:    put a barrier of the cluster (arrive and wait) at the begin"});
  expect_says(joined(call, {"-D", "MEETS"}), 0, {"clean: no finding\n"});
  expect_says(joined(call, {"-D", "MEETS_RELAXED"}), 0, {"clean: no finding\n"});
}

TEST_F(CheckMemoryPaths, WhatTheLaunchAheadWritesIsReadAfterTheWait) {
  const auto call = [](const std::string& kernel, const Words& more) {
    return joined(launch("rules/overlaps.cu", kernel, "2", "64",
                         {"out=f32[128]", "in=f32[128]:uniform", "weights=f32[128]:uniform"}),
                  more);
  };
  const Words earlier = {"--earlier", "in"};
  expect_says(call("reads_early", earlier), 1,
              {"error: launch-overtakes: Warp 0 (line 7) reads global memory before it knows that "
               "the launches ahead of it have ended, and by --earlier one of them writes it",
               "do:    put griddepcontrol.wait"});
  expect_says(call("waits_first", earlier), 0, {"clean: no finding\n"});
  expect_says(call("stores_early", earlier), 1, {"launch-overtakes: ", "they may still read it"});
  expect_says(call("reads_early", {"--earlier", "weights"}), 0, {"clean: no finding\n"});
  expect_says(call("reads_early", {}), 0, {"note: the kernel waits for the launches ahead of it"});
  expect_refused(call("reads_early", {"--earlier", "nothing"}),
                 {"--earlier names the array 'nothing', but the arrays are: out, in, weights"});
}

}  // namespace
}  // namespace tessera::checking
