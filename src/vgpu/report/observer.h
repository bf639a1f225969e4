// The interface through which counts and checks see a running kernel. The executor reports all
// accesses, and all operations that order accesses, to an observer. It does not know what the
// observer does with these reports.
//
// An observer serves one worker thread and sees whole clusters, one after the other. A CTA without
// a cluster is reported as a cluster of one CTA.
#pragma once

#include <cstdint>
#include <memory>

#include "vgpu/report/report.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {

// The lanes of a warp that run an instruction.
struct Actor {
  std::uint32_t cta = 0;          // rank in the cluster
  std::uint32_t warp = 0;         // index in the CTA
  std::uint32_t mask = 0;         // lanes
  std::uint32_t instruction = 0;  // index in the kernel
};

enum class AccessKind : std::uint8_t { kLoad, kStore, kAtomic };

// The ordering semantics of an access. `volatile` counts as weak: threads cannot rely on it.
enum class MemoryOrder : std::uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcquireRelease };
enum class MemoryScope : std::uint8_t { kCta, kCluster, kGpu, kSystem };

// The values that a store will write: `count` neighbouring registers per lane, of which the low
// `cell_bytes` bytes are stored.
struct StoredValues {
  const std::byte* registers[4] = {};  // each with 32 lanes
  std::uint8_t register_bytes = 0, cell_bytes = 0, count = 0;
  // Copies the lane's bytes as memory will hold them, and returns their number.
  std::size_t bytes_of(int lane, std::byte* to) const;
};

// One execution of a memory instruction, reported before it takes effect; bounds and alignment have
// been checked. If the lanes access several memories by generic addresses, or several CTAs' shared
// memories, each memory is reported as an access of its own.
struct WarpAccess {
  Actor by;
  AccessKind kind = AccessKind::kLoad;
  MemoryOrder order = MemoryOrder::kWeak;
  MemoryScope scope = MemoryScope::kCta;
  Window window = Window::kGlobal;  // kGlobal, kShared or kLocal; parameters are not reported
  std::uint8_t bytes = 0;           // a lane
  std::uint32_t owner = 0;          // kShared: rank of the CTA that the memory belongs to
  // 32 addresses; inactive lanes have the address of an active lane. kGlobal: device address.
  // kShared: bytes from the start of the CTA's shared memory. kLocal: the lane's own address.
  const std::uint64_t* address = nullptr;
  const StoredValues* values = nullptr;  // values of an ordinary store; null: not known
  const std::byte* shared = nullptr;     // kShared: the owner's memory, as it is before the access
};

// An asynchronous operation: a bulk or tensor copy, a group of cp.async, or a group of wgmma.
// Within the run of a cluster, ids are unique and start at 1.
using AgentId = std::uint64_t;
enum class AgentKind : std::uint8_t { kCopyAsync, kBulkCopy, kMatrix };

// Bytes that an agent accesses; neighbouring bytes are reported together.
struct AgentAccess {
  AgentId agent = 0;
  AccessKind kind = AccessKind::kLoad;
  Window window = Window::kShared;
  std::uint32_t owner = 0;  // see WarpAccess::owner
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t instruction = 0;  // the instruction that issued it
  bool is_map = false;            // the tensor map that it goes by, not its data
  // cp.async in shared memory: `lane` copies the first lane_bytes bytes, the next lane the next
  // lane_bytes, and so on. lane_bytes is 0 if the bytes are not assigned to lanes.
  std::uint32_t lane = 0, lane_bytes = 0;
};

// An mbarrier object in shared memory.
struct MbarrierPlace {
  std::uint32_t owner = 0;   // rank of the CTA
  std::uint32_t offset = 0;  // in its shared memory
};

enum class FenceKind : std::uint8_t {
  kThread,            // membar, fence.sc, fence.acq_rel
  kProxyAsync,        // fence.proxy.async
  kProxyTensormap,    // fence.proxy.tensormap::generic
  kMbarrierInit,      // fence.mbarrier_init.release.cluster
  kWgmma,             // wgmma.fence
  kProxyAsyncShared,  // fence.proxy.async.shared::cta or ::cluster: for shared memory alone
  kProxyAsyncGlobal,
  kEarlierLaunches  // griddepcontrol.wait: the launches before this one have ended
};

class Observer {
 public:
  virtual ~Observer() = default;

  // `first` is the linear index of the cluster's CTA of rank 0. The shared memory, barriers and
  // agents of earlier clusters no longer exist.
  virtual void cluster_begins(std::uint64_t /*first*/, std::uint32_t /*ctas*/) {}
  virtual void cluster_ends() {}
  virtual void warp_exits(const Actor&) {}  // these lanes

  virtual void access(const WarpAccess&) {}
  // One execution of cp.async, for counting requests; its ordering is reported by the agent events
  // below. Lanes that read nothing (src-size 0) are missing in the mask of `from`, so that mask may
  // be empty.
  virtual void copy_issued(const WarpAccess& /*from*/, const WarpAccess& /*to*/) {}

  // ---- threads with threads -------------------------------------------------------------------
  // The lanes have met at bar.warp.sync or at a *.sync instruction of matrices.
  virtual void warp_syncs(const Actor&) {}
  // A shuffle, vote, match or reduction: the lanes run it together, but it does not order memory.
  virtual void warp_exchanges(const Actor&) {}
  // Barrier `id` of the CTA. All arrivals of a phase are reported before the first pass of the
  // phase. An actor that only arrives (bar.arrive) never passes.
  virtual void barrier_arrives(const Actor&, std::uint32_t /*id*/) {}
  virtual void barrier_passes(const Actor&, std::uint32_t /*id*/) {}
  virtual void cluster_arrives(const Actor&, MemoryOrder) {}
  virtual void cluster_passes(const Actor&, MemoryOrder) {}
  virtual void fence(const Actor&, FenceKind, MemoryScope) {}

  virtual void mbarrier_inits(const Actor&, MbarrierPlace) {}
  virtual void mbarrier_ends(const Actor&, MbarrierPlace) {}  // mbarrier.inval
  // `phase` counts from 0 for each object. The arrival belongs to the phase that it helps to
  // complete. The order is kRelease or kRelaxed.
  virtual void mbarrier_arrives(const Actor&, MbarrierPlace, std::uint64_t /*phase*/, MemoryOrder) {
  }
  // A test or wait for this phase has succeeded. The order is kAcquire or kRelaxed.
  virtual void mbarrier_passes(const Actor&, MbarrierPlace, std::uint64_t /*phase*/, MemoryOrder) {}

  // ---- asynchronous agents --------------------------------------------------------------------
  virtual void agent_starts(const Actor& /*issuer*/, AgentId, AgentKind) {}
  virtual void agent_access(const AgentAccess&) {}
  // The completion of the agent is an arrival, or completes transactions, in this phase.
  virtual void agent_signals(AgentId, MbarrierPlace, std::uint64_t /*phase*/) {}
  // A wait_group of these lanes covers the agent; if `read_only`, it covers only its reads.
  virtual void agent_awaited(const Actor&, AgentId, bool /*read_only*/) {}

  // These lanes have waited for their own wgmma. On hardware, but not by PTX, this also covers the
  // reads of this agent, a wgmma of another warp of the warpgroup.
  virtual void agent_covered(const Actor&, AgentId) {}

  // These lanes read an undefined value.
  virtual void reads_undefined(const Actor&, UndefinedSource) {}

  // The executor itself has found an error of the kernel that does not stop the kernel.
  virtual void notice(Finding) {}
};

// The state that the observers of all worker threads of a launch share.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual std::unique_ptr<Observer> for_worker() = 0;
  // Called after the last cluster: adds to the report what all observers have seen.
  virtual void report(LaunchReport& to) = 0;
};

}  // namespace tessera::vgpu
