// Asynchronous copies and products, proxies, barrier objects and clusters: the events that such
// kernels cause, told to the checker one by one.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "tests/vgpu/observe/checked.h"
#include "vgpu/exec/cta.h"
#include "vgpu/observe/observer.h"

namespace tessera::vgpu {
namespace {

// Instructions of the imaginary kernel.
enum : std::uint32_t { kInit, kCopy, kRead, kWrite, kProduct, kWait, kArrive, kOther };

class Events : public testing::Test {
 protected:
  Events() : Events(1) {}
  explicit Events(std::uint32_t ctas) {
    for (const char* form : {"mbarrier.init.shared.b64", "cp.async.bulk", "ld.shared.u32",
                             "st.shared.u32", "wgmma.mma_async", "wait", "arrive", "other"}) {
      kernel_.instructions.push_back({form, static_cast<int>(kernel_.instructions.size()) + 1});
    }
    context_.kernel = &kernel_;
    context_.memory = &memory_;
    context_.block[0] = 128;
    context_.block[1] = context_.block[2] = 1;
    context_.grid[0] = context_.cluster[0] = ctas;
    context_.grid[1] = context_.grid[2] = 1;
    context_.shared_bytes = 4096;
    map_ = memory_.allocate(128);
    memory_.host_wrote(map_, 128);
    checker_ = make_checker(context_);
    observer_ = checker_->for_worker();
    observer_->cluster_begins(0, ctas);
  }

  Observer& gpu() { return *observer_; }
  static Actor warp(std::uint32_t index, std::uint32_t instruction, std::uint32_t mask = ~0u,
                    std::uint32_t cta = 0) {
    return {cta, index, mask, instruction};
  }
  static Actor lane(std::uint32_t warp, std::uint32_t instruction, std::uint32_t cta = 0) {
    return {cta, warp, 1, instruction};
  }

  // Each lane a word of the 128 bytes at `offset` of the CTA `owner`.
  void touch(AccessKind kind, const Actor& by, std::uint64_t offset, std::uint32_t owner = 0) {
    std::array<std::uint64_t, 32> address;
    for (int l = 0; l < 32; ++l) address[l] = offset + 4 * (by.mask >> l & 1 ? l : 0);
    WarpAccess access;
    access.by = by;
    access.kind = kind;
    access.window = Window::kShared;
    access.bytes = 4;
    access.owner = owner;
    access.address = address.data();
    gpu().access(access);
  }
  void write(std::uint32_t w, std::uint64_t offset = 0) {
    touch(AccessKind::kStore, warp(w, kWrite), offset);
  }
  void read(std::uint32_t w, std::uint64_t offset = 0) {
    touch(AccessKind::kLoad, warp(w, kRead), offset);
  }
  void agent(AgentId id, AccessKind kind, std::uint64_t offset = 0, std::uint32_t owner = 0) {
    AgentAccess access;
    access.agent = id;
    access.kind = kind;
    access.owner = owner;
    access.address = offset;
    access.bytes = 128;
    access.instruction = kCopy;
    gpu().agent_access(access);
  }
  void copy_in(AgentId id, std::uint32_t issuer, std::uint64_t offset = 0) {
    gpu().agent_starts(lane(issuer, kCopy), id, AgentKind::kBulkCopy);
    agent(id, AccessKind::kStore, offset);
  }
  void barrier(std::uint32_t ctas = 1, std::uint32_t instruction = kOther) {
    for (std::uint32_t c = 0; c < ctas; ++c) {
      for (std::uint32_t w = 0; w < 4; ++w) gpu().barrier_arrives(warp(w, instruction, ~0u, c), 0);
      for (std::uint32_t w = 0; w < 4; ++w) gpu().barrier_passes(warp(w, instruction, ~0u, c), 0);
    }
  }
  void fence_async(std::uint32_t w, FenceKind kind = FenceKind::kProxyAsync) {
    gpu().fence(warp(w, kOther), kind, MemoryScope::kCta);
  }
  // A barrier object that everybody knows of.
  MbarrierPlace barrier_object(std::uint32_t offset = 1024) {
    const MbarrierPlace place{0, offset};
    gpu().mbarrier_inits(lane(0, kInit), place);
    gpu().fence(lane(0, kOther), FenceKind::kMbarrierInit, MemoryScope::kCluster);
    barrier();
    return place;
  }
  Findings end() {
    gpu().cluster_ends();
    observer_.reset();
    LaunchReport report;
    checker_->report(report);
    return report.findings;
  }
  // Findings of this check, and of no other.
  void expect(std::string_view check) {
    const Findings findings = end();
    EXPECT_FALSE(findings.empty());
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.check, check) << text_of(findings);
      EXPECT_FALSE(finding.message.empty() || finding.hint.empty());
    }
  }
  void expect_nothing() { expect_clean(end()); }

  Kernel kernel_;
  GlobalMemory memory_{1 << 20};
  std::uint64_t map_ = 0;  // 128 bytes of global memory
  LaunchContext context_;
  std::unique_ptr<LaunchObserver> checker_;
  std::unique_ptr<Observer> observer_;
};

// ---- a copy into shared memory, and an mbarrier that says when it is there ----------------------

class CheckBulkCopy : public Events {
 protected:
  // Warp 0 copies; the others use what it brought.
  void run(bool waits) {
    const MbarrierPlace full = barrier_object();
    copy_in(1, 0);
    gpu().mbarrier_arrives(lane(0, kArrive), full, 0);
    gpu().agent_signals(1, full, 0);
    if (waits) gpu().mbarrier_passes(warp(1, kWait), full, 0);
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
  gpu().mbarrier_passes(lane(1, kWait), full, 0);
  read(1);
  expect("race");
}
TEST_F(CheckBulkCopy, IsWaitedForByOneLaneThatTellsItsWarp) {
  const MbarrierPlace full = barrier_object();
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(lane(1, kWait), full, 0);
  gpu().warp_syncs(warp(1, kOther));
  read(1);
  expect_nothing();
}

TEST_F(CheckBulkCopy, WaitForAnotherPhase) {
  const MbarrierPlace full = barrier_object();
  copy_in(1, 0);
  gpu().agent_signals(1, full, 0);
  gpu().mbarrier_passes(warp(1, kWait), full, 0);
  read(1);
  fence_async(1);
  barrier();
  copy_in(2, 0);
  gpu().agent_signals(2, full, 1);
  gpu().mbarrier_passes(warp(1, kWait), full, 0);  // the old one
  read(1);
  expect("race");
}

// A stage of a ring: filled, used, given back, filled again.
class CheckRing : public Events {
 protected:
  void run(bool gives_back, bool fence = true) {
    const MbarrierPlace full = barrier_object(1024), empty = barrier_object(1032);
    for (std::uint64_t round = 0; round < 3; ++round) {
      if (round > 0 && gives_back) gpu().mbarrier_passes(lane(0, kWait), empty, round - 1);
      copy_in(round + 1, 0);
      gpu().mbarrier_arrives(lane(0, kArrive), full, round);
      gpu().agent_signals(round + 1, full, round);
      gpu().mbarrier_passes(warp(1, kWait), full, round);
      read(1);
      if (fence) fence_async(1);
      gpu().mbarrier_arrives(lane(1, kArrive), empty, round);
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
  gpu().mbarrier_passes(warp(1, kWait), full, 0);
  gpu().agent_starts(warp(1, kProduct), 2, AgentKind::kMatrix);
  agent(2, AccessKind::kLoad);
  expect_nothing();
}

// ---- groups and their waits ---------------------------------------------------------------------

class CheckGroups : public Events {
 protected:
  void store_out(AgentId id) {
    fence_async(0);
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
      gpu().mbarrier_passes(warp(w, kWait), full, 0);
      gpu().agent_starts(warp(w, kProduct), 2 + w, AgentKind::kMatrix);
      agent(2 + w, AccessKind::kLoad);
    }
    for (std::uint32_t w = 0; w < 4; ++w) {
      if (w == 0 || all_wait) gpu().agent_awaited(warp(w, kWait), 2 + w, false);
      if (w == 0 || all_arrive) gpu().mbarrier_arrives(lane(w, kArrive), empty, 0);
    }
    gpu().mbarrier_passes(lane(0, kWait), empty, 0);
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

// ---- barrier objects ----------------------------------------------------------------------------

class CheckObjects : public Events {};

TEST_F(CheckObjects, UsedBeforeAnybodyKnowsOfThem) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  gpu().mbarrier_arrives(lane(1, kArrive), {0, 1024}, 0);
  expect("missing-init-fence");
}
TEST_F(CheckObjects, UsedAfterABarrier) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  barrier();
  gpu().mbarrier_arrives(lane(1, kArrive), {0, 1024}, 0);
  expect_nothing();
}
TEST_F(CheckObjects, SignalledByACopyWithoutFence) {
  gpu().mbarrier_inits(lane(0, kInit), {0, 1024});
  barrier();
  copy_in(1, 0);
  gpu().agent_signals(1, {0, 1024}, 0);
  expect("missing-init-fence");
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
TEST_F(CheckSharedCluster, ReadTooEarly) {
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
  gpu().mbarrier_arrives(lane(0, kArrive, 1), {0, 1024}, 0);
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
