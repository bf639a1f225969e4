// The one hook through which counts and checks see a running kernel. The executor reports to an
// observer every access and everything that orders accesses; it does not know how observers use
// that.
//
// One observer serves one worker thread and sees whole clusters, one after the other. A CTA outside
// of a cluster is a cluster of one.
#pragma once

#include <cstdint>
#include <memory>

#include "vgpu/report/report.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {

// Lanes of a warp at an instruction.
struct Actor {
  std::uint32_t cta = 0;          // rank in the cluster
  std::uint32_t warp = 0;         // index in the CTA
  std::uint32_t mask = 0;         // lanes
  std::uint32_t instruction = 0;  // index in the kernel
};

enum class AccessKind : std::uint8_t { kLoad, kStore, kAtomic };

// How strongly an access is ordered. `volatile` counts as weak: it promises nothing to threads.
enum class MemoryOrder : std::uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcquireRelease };
enum class MemoryScope : std::uint8_t { kCta, kCluster, kGpu, kSystem };

// The values that a store is about to write: `count` neighbouring registers per lane, whose low
// bytes become cells of memory.
struct StoredValues {
  const std::byte* registers[4] = {};  // each with 32 lanes
  std::uint8_t register_bytes = 0, cell_bytes = 0, count = 0;
  // The lane's bytes, as memory will hold them. Returns how many.
  std::size_t bytes_of(int lane, std::byte* to) const;
};

// One execution of one memory instruction, reported before it happens; bounds and alignment are
// correct. If lanes access several memories by generic addresses, or several CTAs' shared memories,
// there is one access per memory.
struct WarpAccess {
  Actor by;
  AccessKind kind = AccessKind::kLoad;
  MemoryOrder order = MemoryOrder::kWeak;
  MemoryScope scope = MemoryScope::kCta;
  Window window = Window::kGlobal;  // kGlobal, kShared or kLocal; parameters are not reported
  std::uint8_t bytes = 0;           // a lane
  std::uint32_t owner = 0;          // kShared: rank of the CTA that the memory belongs to
  // 32 of them; those of inactive lanes repeat an active one. kGlobal: device address. kShared:
  // bytes from the start of the CTA's shared memory. kLocal: the lane's own address.
  const std::uint64_t* address = nullptr;
  const StoredValues* values = nullptr;  // values of an ordinary store; null: not known
  const std::byte* shared = nullptr;     // kShared: the owner's memory, as it is before the access
};

// An asynchronous operation: a bulk or tensor copy, a group of cp.async, a group of
// wgmma. Numbers are unique in a cluster's run and start at 1.
using AgentId = std::uint64_t;
enum class AgentKind : std::uint8_t { kCopyAsync, kBulkCopy, kMatrix };

// Bytes that an agent touches, neighbouring ones together.
struct AgentAccess {
  AgentId agent = 0;
  AccessKind kind = AccessKind::kLoad;
  Window window = Window::kShared;
  std::uint32_t owner = 0;  // see WarpAccess::owner
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t instruction = 0;  // the instruction that issued it
  bool is_map = false;            // the tensor map that it goes by, not its data
  // cp.async: the lane that copies the first bytes, and how many bytes belong to each lane from
  // there on. 0: they belong to no operation.
  std::uint32_t lane = 0, lane_bytes = 0;
};

// A barrier object in shared memory.
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
  // One issue of cp.async, lane by lane, to count requests; the agent events below report the
  // order. Lanes that read nothing (src-size 0) are missing in the mask of `from`, which may be
  // empty.
  virtual void copy_issued(const WarpAccess& /*from*/, const WarpAccess& /*to*/) {}

  // ---- threads with threads -------------------------------------------------------------------
  // bar.warp.sync, and *.sync of matrices: the lanes of the mask have met.
  virtual void warp_syncs(const Actor&) {}
  // Shuffles, votes, matches and reductions: the lanes run it together, and no memory is ordered.
  virtual void warp_exchanges(const Actor&) {}
  // Barrier `id` of the CTA. Every arrival of a phase comes before the first pass of that phase. An
  // actor that only arrives (bar.arrive) never passes.
  virtual void barrier_arrives(const Actor&, std::uint32_t /*id*/) {}
  virtual void barrier_passes(const Actor&, std::uint32_t /*id*/) {}
  virtual void cluster_arrives(const Actor&, MemoryOrder) {}
  virtual void cluster_passes(const Actor&, MemoryOrder) {}
  virtual void fence(const Actor&, FenceKind, MemoryScope) {}

  virtual void mbarrier_inits(const Actor&, MbarrierPlace) {}
  virtual void mbarrier_ends(const Actor&, MbarrierPlace) {}  // mbarrier.inval
  // `phase` counts from 0 for each object; the arrival belongs to the phase that it helps to end.
  // The order is kRelease or kRelaxed.
  virtual void mbarrier_arrives(const Actor&, MbarrierPlace, std::uint64_t /*phase*/, MemoryOrder) {
  }
  // A test or wait for this phase came out true. The order is kAcquire or kRelaxed.
  virtual void mbarrier_passes(const Actor&, MbarrierPlace, std::uint64_t /*phase*/, MemoryOrder) {}

  // ---- asynchronous agents --------------------------------------------------------------------
  virtual void agent_starts(const Actor& /*issuer*/, AgentId, AgentKind) {}
  virtual void agent_access(const AgentAccess&) {}
  // The agent's completion is an arrival (or transaction) at this phase.
  virtual void agent_signals(AgentId, MbarrierPlace, std::uint64_t /*phase*/) {}
  // A wait_group of these lanes covers the agent; `read_only`: it covers only the agent's reads.
  virtual void agent_awaited(const Actor&, AgentId, bool /*read_only*/) {}

  // A wait of these lanes for their own wgmma covers what this agent of a sibling warp reads, on
  // silicon and not by PTX.
  virtual void agent_covered(const Actor&, AgentId) {}

  // These lanes read an undefined value.
  virtual void reads_undefined(const Actor&, UndefinedSource) {}

  // The executor itself noticed an error of the kernel that does not stop it.
  virtual void notice(Finding) {}
};

// The state that all observers of one launch share.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual std::unique_ptr<Observer> for_worker() = 0;
  // Called after the last cluster: adds its observations to the report.
  virtual void report(LaunchReport& to) = 0;
};

}  // namespace tessera::vgpu
