// Asynchronous copies and products and their proxies: the events that such kernels cause, told to
// the checker one by one.
#include <numeric>

#include "tests/vgpu/observe/events.h"

namespace tessera::vgpu {
namespace {

// ---- a copy into shared memory, and an mbarrier that says when it is there ----------------------

class CheckBulkCopy : public Events {
 protected:
  // Warp 0 copies; the others use what it brought.
  void run(bool waits) {
    const MbarrierPlace full = barrier_object();
    copy_in(1, 0);
    gpu().mbarrier_arrives(lane(0, kArrive), full, 0, kRelease);
    gpu().agent_signals(1, full, 0);
    if (waits) gpu().mbarrier_passes(warp(1, kWait), full, 0, kAcquire);
    read(1);
  }
};

TEST_F(CheckBulkCopy, IsWaitedFor) {
  run(true);
  expect_nothing();
}
TEST_F(CheckBulkCopy, IsNotWaitedFor) {
  run(false);
  expect("race");
}

// The others rely on what one warp has waited for.
TEST_F(CheckBulkCopy, IsWaitedForByAnotherWarp) {
  run(true);
  read(2);
  expect("race");
}
TEST_F(CheckBulkCopy, IsWaitedForByAnotherWarpThatTellsOfIt) {
  run(true);
  barrier();
  read(2);
  expect_nothing();
}

// One lane waits, and the rest of its warp goes on as if it had.
TEST_F(CheckBulkCopy, IsWaitedForByOneLane) {
  const MbarrierPlace full = barrier_object();
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(lane(1, kWait), full, 0, kAcquire);
  read(1);
  expect("race");
}
TEST_F(CheckBulkCopy, IsWaitedForByOneLaneThatTellsItsWarp) {
  const MbarrierPlace full = barrier_object();
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(lane(1, kWait), full, 0, kAcquire);
  gpu().warp_syncs(warp(1, kOther));
  read(1);
  expect_nothing();
}

TEST_F(CheckBulkCopy, WaitForAnotherPhase) {
  const MbarrierPlace full = barrier_object();
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(warp(1, kWait), full, 0, kAcquire);
  read(1);
  fence_async(1);
  barrier();
  copy_in(2, 0);
  gpu().agent_signals(2, full, 1);
  gpu().mbarrier_passes(warp(1, kWait), full, 0, kAcquire);  // the old one
  read(1);
  expect("race");
}

// A stage of a ring: filled, used, given back, filled again.
class CheckRing : public Events {
 protected:
  void run(bool gives_back, bool fence = true) {
    const MbarrierPlace full = barrier_object(1024), empty = barrier_object(1032);
    for (std::uint64_t round = 0; round < 3; ++round) {
      if (round > 0 && gives_back)
        gpu().mbarrier_passes(lane(0, kWait), empty, round - 1, kAcquire);
      copy_in(round + 1, 0);
      gpu().mbarrier_arrives(lane(0, kArrive), full, round, kRelease);
      gpu().agent_signals(round + 1, full, round);
      gpu().mbarrier_passes(warp(1, kWait), full, round, kAcquire);
      read(1);
      if (fence) fence_async(1);
      gpu().mbarrier_arrives(lane(1, kArrive), empty, round, kRelease);
    }
  }
};

TEST_F(CheckRing, IsGivenBack) {
  run(true);
  expect_nothing();
}
TEST_F(CheckRing, IsFilledWhileItIsRead) {
  run(false);
  expect("race");
}

// ---- proxies ------------------------------------------------------------------------------------

class CheckProxies : public Events {
 protected:
  // All warps write, one lane copies it out.
  void copy_out(AgentId id = 1) {
    gpu().agent_starts(lane(0, kCopy), id, AgentKind::kBulkCopy);
    agent(id, AccessKind::kLoad);
  }
};

TEST_F(CheckProxies, FenceOfTheWriterBeforeTheBarrier) {
  write(2);
  fence_async(2);
  barrier();
  copy_out();
  expect_nothing();
}
TEST_F(CheckProxies, FenceForSharedMemoryAlone) {
  write(2);
  fence_async(2, FenceKind::kProxyAsyncShared);
  barrier();
  copy_out();
  expect_nothing();
}
TEST_F(CheckProxies, FenceForGlobalMemoryAlone) {
  write(2);
  fence_async(2, FenceKind::kProxyAsyncGlobal);
  barrier();
  copy_out();
  expect("missing-proxy-fence");
}
TEST_F(CheckProxies, NoFence) {
  write(2);
  barrier();
  copy_out();
  expect("missing-proxy-fence");
}
TEST_F(CheckProxies, FenceBeforeTheWrite) {
  fence_async(2);
  write(2);
  barrier();
  copy_out();
  expect("missing-proxy-fence");
}
TEST_F(CheckProxies, FenceButNoBarrier) {
  write(2);
  fence_async(2);
  copy_out();
  expect("race");
}
// Whoever has the write behind it may fence for the writer.
TEST_F(CheckProxies, FenceOfTheIssuerAfterTheBarrier) {
  write(2);
  barrier();
  fence_async(0);
  copy_out();
  expect_nothing();
}
TEST_F(CheckProxies, OwnWriteOfTheIssuer) {
  touch(AccessKind::kStore, warp(0, kWrite), 0);
  copy_out();
  expect("missing-proxy-fence");
}
// cp.async goes the way of ordinary accesses.
TEST_F(CheckProxies, CpAsyncNeedsNoFence) {
  write(0);
  gpu().agent_starts(warp(0, kCopy), 1, AgentKind::kCopyAsync);
  agent(1, AccessKind::kLoad);
  expect_nothing();
}
TEST_F(CheckProxies, ProductOfWhatCpAsyncBrought) {
  gpu().agent_starts(warp(0, kCopy), 1, AgentKind::kCopyAsync);
  agent(1, AccessKind::kStore);
  gpu().agent_awaited(warp(0, kWait), 1, false);
  gpu().agent_starts(warp(0, kProduct), 2, AgentKind::kMatrix);
  agent(2, AccessKind::kLoad);
  expect("missing-proxy-fence");
}
TEST_F(CheckProxies, ProductOfWhatABulkCopyBrought) {
  const MbarrierPlace full = barrier_object();
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(warp(1, kWait), full, 0, kAcquire);
  gpu().agent_starts(warp(1, kProduct), 2, AgentKind::kMatrix);
  agent(2, AccessKind::kLoad);
  expect_nothing();
}

// ---- groups and their waits ---------------------------------------------------------------------

class CheckGroups : public Events {
 protected:
  // By one lane, what all lanes of the warp have written.
  void store_out(AgentId id, bool meet = true) {
    fence_async(0);
    if (meet) gpu().warp_syncs(warp(0, kOther));
    gpu().agent_starts(lane(0, kCopy), id, AgentKind::kBulkCopy);
    agent(id, AccessKind::kLoad);
  }
};

TEST_F(CheckGroups, CpAsyncIsNotWaitedFor) {
  gpu().agent_starts(warp(0, kCopy), 1, AgentKind::kCopyAsync);
  agent(1, AccessKind::kStore);
  read(0);
  expect("race");
}
TEST_F(CheckGroups, CpAsyncIsWaitedForByItsOwnWarpAlone) {
  for (std::uint32_t w = 0; w < 2; ++w) {
    gpu().agent_starts(warp(w, kCopy), 1 + w, AgentKind::kCopyAsync);
    agent(1 + w, AccessKind::kStore, 128 * w);
    gpu().agent_awaited(warp(w, kWait), 1 + w, false);
  }
  read(0, 128);
  expect("race");
}
TEST_F(CheckGroups, CpAsyncWaitAndBarrier) {
  for (std::uint32_t w = 0; w < 2; ++w) {
    gpu().agent_starts(warp(w, kCopy), 1 + w, AgentKind::kCopyAsync);
    agent(1 + w, AccessKind::kStore, 128 * w);
    gpu().agent_awaited(warp(w, kWait), 1 + w, false);
  }
  barrier();
  read(0, 128);
  expect_nothing();
}

TEST_F(CheckGroups, SourceOfACopyIsOverwritten) {
  write(0);
  store_out(1);
  write(0);
  expect("race");
}
TEST_F(CheckGroups, SourceOfACopyIsFree) {
  write(0);
  store_out(1);
  gpu().agent_awaited(warp(0, kWait), 1, true);
  write(0);
  expect_nothing();
}
TEST_F(CheckGroups, SourceThatOtherLanesWroteNeedsAMeeting) {
  write(0);
  store_out(1, false);
  expect("lockstep");
}
// The drain of the store before the last is no drain of the last.
TEST_F(CheckGroups, SourceOfALaterCopyIsOverwritten) {
  write(0);
  store_out(1);
  store_out(2);
  gpu().agent_awaited(warp(0, kWait), 1, true);
  write(0);
  expect("race");
}
TEST_F(CheckGroups, ReadOfTheSourceNeedsNoWait) {
  write(0);
  store_out(1);
  read(0);
  expect_nothing();
}

TEST_F(CheckGroups, WhatEarlierClustersDidDoesNotMatter) {
  write(1);
  barrier();
  read(1);
  gpu().cluster_ends();
  gpu().cluster_begins(1, 1);
  gpu().agent_starts(warp(0, kCopy), 1, AgentKind::kCopyAsync);
  agent(1, AccessKind::kStore);
  // A further copy of the same agent.
  gpu().agent_starts(warp(0, kCopy), 1, AgentKind::kCopyAsync);
  agent(1, AccessKind::kStore);
  expect_nothing();
}

// A persistent kernel waits until its stores have read their tiles, for each, and for nothing more.
TEST_F(CheckGroups, ThousandsOfStores) {
  for (AgentId id = 1; id <= 3000; ++id) {
    write(0);
    store_out(id);
    AgentAccess out;
    out.agent = id;
    out.kind = AccessKind::kStore;
    out.window = Window::kGlobal;
    out.address = map_ + id % 8 * 16;
    out.bytes = 16;
    out.instruction = kCopy;
    gpu().agent_access(out);
    gpu().agent_awaited(lane(0, kWait), id, true);
    gpu().warp_syncs(warp(0, kOther));
    if (id % 8 == 0) {
      for (AgentId old = id - 7; old <= id; ++old) gpu().agent_awaited(lane(0, kWait), old, false);
    }
  }
  expect_nothing();
}

// Each warp of a warpgroup waits for itself; one of them gives the stage back for all.
class CheckProduct : public Events {
 protected:
  void run(bool all_wait, bool all_arrive) {
    const MbarrierPlace full = barrier_object(1024), empty = barrier_object(1032);
    copy_in(1, 0);
    gpu().agent_signals(1, full, 0);
    for (std::uint32_t w = 0; w < 4; ++w) {
      gpu().mbarrier_passes(warp(w, kWait), full, 0, kAcquire);
      gpu().agent_starts(warp(w, kProduct), 2 + w, AgentKind::kMatrix);
      agent(2 + w, AccessKind::kLoad);
    }
    for (std::uint32_t w = 0; w < 4; ++w) {
      if (w == 0 || all_wait) gpu().agent_awaited(warp(w, kWait), 2 + w, false);
      if (w == 0 || all_arrive) gpu().mbarrier_arrives(lane(w, kArrive), empty, 0, kRelease);
    }
    gpu().mbarrier_passes(lane(0, kWait), empty, 0, kAcquire);
    copy_in(9, 0);
  }
};

TEST_F(CheckProduct, StageIsGivenBackByAll) {
  run(true, true);
  expect_nothing();
}
TEST_F(CheckProduct, StageIsGivenBackByOneWarpForAll) {
  run(true, false);
  expect("race");
}
TEST_F(CheckProduct, StageIsGivenBackBeforeTheWait) {
  run(false, true);
  expect("race");
}

}  // namespace
}  // namespace tessera::vgpu
