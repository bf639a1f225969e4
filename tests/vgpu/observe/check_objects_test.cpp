// Barrier objects, tensor maps and clusters: who may touch them when, as events told to the
// checker.
#include <vector>

#include "tests/vgpu/observe/events.h"

namespace tessera::vgpu {
namespace {

// ---- barrier objects ----------------------------------------------------------------------------

class CheckObjects : public Events {};

TEST_F(CheckObjects, UsedBeforeAnybodyKnowsOfThem) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  gpu().mbarrier_arrives(lane(1, kArrive), {0, 1024}, 0, kRelease);
  expect("missing-init-fence");
}
TEST_F(CheckObjects, UsedAfterABarrier) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  barrier();
  gpu().mbarrier_arrives(lane(1, kArrive), {0, 1024}, 0, kRelease);
  expect_nothing();
}
// A copy uses its object by the generic proxy: a barrier is enough, and less is not.
TEST_F(CheckObjects, SignalledByACopyAfterABarrier) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  barrier();
  copy_in(1, 0);
  gpu().agent_signals(1, {0, 1024}, 0);
  expect_nothing();
}
TEST_F(CheckObjects, SignalledByACopyOfAWarpThatDoesNotKnowOfThem) {
  gpu().mbarrier_inits(lane(1, kInit), {0, 1024});
  copy_in(1, 0);
  gpu().agent_signals(1, {0, 1024}, 0);
  expect("missing-init-fence");
}
TEST_F(CheckObjects, SignalledByACopyOfTheWarpThatInitialisedThem) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  copy_in(1, 0);
  gpu().agent_signals(1, {0, 1024}, 0);
  expect_nothing();
}
// Names of operations that are over are given to later ones, of the same kind alone: what a copy
// did long ago must not seem to be done by another way.
TEST_F(CheckObjects, NamesOfBulkCopiesGoToBulkCopies) {
  const MbarrierPlace place = barrier_object();
  const auto start_and_end = [&](AgentId id, AgentKind kind) {
    gpu().agent_starts(lane(0, kCopy), id, kind);
    gpu().agent_signals(id, place, 0);
  };
  copy_in(1, 0);
  gpu().agent_signals(1, place, 0);
  for (AgentId id = 2; id < 300; ++id) start_and_end(id, AgentKind::kBulkCopy);
  gpu().mbarrier_passes(lane(0, kOther), place, 0, MemoryOrder::kAcquire);
  for (AgentId id = 300; id < 600; ++id) start_and_end(id, AgentKind::kCopyAsync);
  copy_in(600, 0);
  expect_nothing();
}
TEST_F(CheckObjects, TouchedByAnOrdinaryStore) {
  barrier_object(1024);
  write(2, 1024);
  expect("mbarrier-bytes");
}
TEST_F(CheckObjects, TouchedByACopy) {
  barrier_object(1024);
  copy_in(1, 0, 1024 - 64);
  expect("mbarrier-bytes");
}
TEST_F(CheckObjects, FreeAgainAfterTheirEnd) {
  const MbarrierPlace place = barrier_object(1024);
  gpu().mbarrier_ends(lane(0, kOther), place);
  barrier();
  write(2, 1024);
  read(2, 1024);
  expect_nothing();
}
TEST_F(CheckObjects, OfTheLastClusterAreGone) {
  barrier_object(1024);
  gpu().cluster_ends();
  gpu().cluster_begins(1, 1);
  write(2, 1024);
  expect_nothing();
}

// A hand-over of 128 bytes from warp 0 to warp 1, with fences or without.
class CheckRelaxedObjects : public Events {
 protected:
  void hand_over(MemoryOrder arrival, MemoryOrder wait, bool fence_before, bool fence_behind) {
    const MbarrierPlace full = barrier_object(1024);
    const auto fence = [&](std::uint32_t w) {
      gpu().fence(warp(w, kOther), FenceKind::kThread, MemoryScope::kCta);
    };
    write(0);
    if (fence_before) fence(0);
    gpu().mbarrier_arrives(warp(0, kArrive), full, 0, arrival);
    gpu().mbarrier_passes(warp(1, kWait), full, 0, wait);
    if (fence_behind) fence(1);
    read(1);
  }
};

TEST_F(CheckRelaxedObjects, ArrivalsAndWaitsOrderUnlessRelaxed) {
  hand_over(kRelease, kAcquire, false, false);
  expect_nothing();
}
TEST_F(CheckRelaxedObjects, ARelaxedArrivalHandsNothingOn) {
  hand_over(kRelaxed, kAcquire, false, true);
  expect("race");
}
TEST_F(CheckRelaxedObjects, ARelaxedWaitLearnsNothing) {
  hand_over(kRelease, kRelaxed, true, false);
  expect("race");
}
TEST_F(CheckRelaxedObjects, AFenceBeforeARelaxedArrivalHandsOn) {
  hand_over(kRelaxed, kAcquire, true, false);
  expect_nothing();
}
TEST_F(CheckRelaxedObjects, AFenceBehindARelaxedWaitLearns) {
  hand_over(kRelease, kRelaxed, false, true);
  expect_nothing();
}
TEST_F(CheckRelaxedObjects, FencesOnBothSidesOrder) {
  hand_over(kRelaxed, kRelaxed, true, true);
  expect_nothing();
}
TEST_F(CheckRelaxedObjects, ARelaxedWaitForACopyLearnsNothingOfIt) {
  const MbarrierPlace full = barrier_object(1024);
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(warp(1, kWait), full, 0, kRelaxed);
  read(1);
  expect("race");
}
// Half a warp gets to know of a write and meets; a lane of the other half arrives somewhere.
TEST_F(CheckRelaxedObjects, LanesThatMeetTellTheOthersNothing) {
  const MbarrierPlace full = barrier_object(1024), next = barrier_object(1032);
  constexpr std::uint32_t kUpper = 0xffff0000;
  write(0);
  gpu().mbarrier_arrives(warp(0, kArrive), full, 0, kRelease);
  gpu().mbarrier_passes(warp(1, kWait, kUpper), full, 0, kAcquire);
  gpu().warp_syncs(warp(1, kOther, kUpper));
  gpu().mbarrier_arrives(lane(1, kArrive), next, 0, kRelease);
  gpu().mbarrier_passes(warp(2, kWait), next, 0, kAcquire);
  read(2);
  expect("race");
}
TEST_F(CheckRelaxedObjects, AFenceBehindARelaxedWaitForACopyLearnsOfIt) {
  const MbarrierPlace full = barrier_object(1024);
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(warp(1, kWait), full, 0, kRelaxed);
  gpu().fence(warp(1, kOther), FenceKind::kThread, MemoryScope::kCta);
  read(1);
  expect_nothing();
}

// ---- tensor maps in global memory ---------------------------------------------------------------

class CheckMaps : public Events {
 protected:
  void edit() {
    const std::vector<std::uint64_t> address(32, map_ + 16);
    WarpAccess access;
    access.by = lane(0, kWrite);
    access.kind = AccessKind::kStore;
    access.bytes = 8;
    access.address = address.data();
    gpu().access(access);
  }
  void use(AgentId id) {
    gpu().agent_starts(lane(0, kCopy), id, AgentKind::kBulkCopy);
    AgentAccess access;
    access.agent = id;
    access.window = Window::kGlobal;
    access.address = map_;
    access.bytes = 128;
    access.instruction = kCopy;
    access.is_map = true;
    gpu().agent_access(access);
  }
  void fence(FenceKind kind) { gpu().fence(lane(0, kOther), kind, MemoryScope::kGpu); }
};

TEST_F(CheckMaps, EditedAndFenced) {
  edit();
  fence(FenceKind::kProxyTensormap);
  use(1);
  expect_nothing();
}
TEST_F(CheckMaps, EditedWithoutFence) {
  edit();
  use(1);
  expect("missing-proxy-fence");
}
TEST_F(CheckMaps, EditedWithTheWrongFence) {
  edit();
  fence(FenceKind::kProxyAsync);
  use(1);
  expect("missing-proxy-fence");
}
TEST_F(CheckMaps, EditedInUse) {
  use(1);
  edit();
  expect("race");
}
TEST_F(CheckMaps, EditedAfterUse) {
  use(1);
  gpu().agent_awaited(lane(0, kWait), 1, false);
  edit();
  expect_nothing();
}

// ---- clusters -----------------------------------------------------------------------------------

class CheckSharedCluster : public Events {
 protected:
  CheckSharedCluster() : Events(2) {}
  void cluster_barrier(MemoryOrder arrival = MemoryOrder::kRelease) {
    for (std::uint32_t c = 0; c < 2; ++c) {
      for (std::uint32_t w = 0; w < 4; ++w) {
        gpu().cluster_arrives(warp(w, kArrive, ~0u, c), arrival);
      }
    }
    for (std::uint32_t c = 0; c < 2; ++c) {
      for (std::uint32_t w = 0; w < 4; ++w) {
        gpu().cluster_passes(warp(w, kWait, ~0u, c), MemoryOrder::kAcquire);
      }
    }
  }
  void exit() {
    for (std::uint32_t c = 0; c < 2; ++c) {
      for (std::uint32_t w = 0; w < 4; ++w) gpu().warp_exits(warp(w, kOther, ~0u, c));
    }
  }
};

TEST_F(CheckSharedCluster, ReadOfAnothersMemory) {
  write(0);
  cluster_barrier();
  touch(AccessKind::kLoad, warp(0, kRead, ~0u, 1), 0, 0);
  cluster_barrier();
  exit();
  expect_nothing();
}
TEST_F(CheckSharedCluster, TouchedBeforeItsCtaIsKnownToRun) {
  touch(AccessKind::kStore, warp(0, kWrite, ~0u, 1), 0, 0);
  cluster_barrier();
  exit();
  expect("unstarted-cta");
}
TEST_F(CheckSharedCluster, ReadTooEarly) {
  cluster_barrier();
  write(0);
  barrier(2);
  touch(AccessKind::kLoad, warp(0, kRead, ~0u, 1), 0, 0);
  cluster_barrier();
  exit();
  expect("race");
}
TEST_F(CheckSharedCluster, ARelaxedArrivalHandsNothingOn) {
  write(0);
  cluster_barrier(MemoryOrder::kRelaxed);
  touch(AccessKind::kLoad, warp(0, kRead, ~0u, 1), 0, 0);
  cluster_barrier();
  exit();
  expect("race");
}
TEST_F(CheckSharedCluster, ARelaxedArrivalHandsOnFencedInitialisations) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  gpu().fence(lane(0, kOther), FenceKind::kMbarrierInit, MemoryScope::kCluster);
  cluster_barrier(MemoryOrder::kRelaxed);
  gpu().mbarrier_arrives(lane(0, kArrive, 1), {0, 1024}, 0, kRelease);
  cluster_barrier();
  exit();
  expect_nothing();
}
TEST_F(CheckSharedCluster, MemoryOfACtaThatMayHaveEnded) {
  write(0);
  cluster_barrier();
  touch(AccessKind::kLoad, warp(0, kRead, ~0u, 1), 0, 0);
  exit();
  expect("exited-cta");
}

}  // namespace
}  // namespace tessera::vgpu
