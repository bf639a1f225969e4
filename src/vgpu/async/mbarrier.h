// Barrier objects in shared memory (PTX ISA, mbarrier). A phase ends when no arrivals and no bytes
// are pending; the next phase begins at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/async/account/mbarrier_account.h"
#include "vgpu/async/site.h"
#include "vgpu/program/program.h"

namespace tessera::vgpu {

// A warp whose test for the current phase returned false, at its first such test.
struct MbarrierWaiter {
  std::uint32_t warp = 0;
  int lane = 0;
  const Op* op = nullptr;
  std::uint64_t meant = 0;  // the phase that it waits for; parity may have hidden that it ended
};

struct Mbarrier {
  std::uint32_t expected = 0, pending = 0;  // arrivals of the next phases, and of this one
  std::int64_t tx = 0;  // bytes; less than 0 when copies came before their expect
  std::uint64_t phase = 0;
  std::uint64_t stored = 0;         // the content of its eight bytes
  std::vector<std::uint64_t> seen;  // by warp: how many phases it knows to have ended
  // For each barrier of the CTA: how many phases of the object have ended, as far as the warps that
  // arrived at the barrier knew.
  std::array<std::uint64_t, kBarriers> told = {};
  std::vector<MbarrierWaiter> waiters;  // for the phase that runs
  MbarrierAccount account;              // under checks alone
};

// Returns the state that mbarrier.arrive returns: phase, expected and pending arrivals.
std::uint64_t state_of(const Mbarrier& object);
std::uint64_t phase_in_state(std::uint64_t state);
std::uint32_t pending_in_state(std::uint64_t state);

// All mbarrier objects of a cluster. Misuse after which the kernel cannot continue throws a fault.
class Mbarriers {
 public:
  explicit Mbarriers(AsyncCluster& cluster) : cluster_(cluster) {}

  void clear() { objects_.clear(); }
  void init(const Site& site, const SharedPlace& place, std::uint32_t count);
  void invalidate(const Site& site, const SharedPlace& place);

  struct Arrival {
    std::uint32_t count = 1;
    std::uint32_t expect_bytes = 0;  // before it arrives
    bool expects = false;
    bool drops = false;        // the next phases wait for `count` less
    bool no_complete = false;  // must not end the phase
    bool relaxed = false;      // orders nothing by itself
  };
  // Returns the state of the object before the arrival.
  std::uint64_t arrive(const Site& site, const SharedPlace& place, const Arrival& arrival);
  void expect(const Site& site, const SharedPlace& place, std::uint32_t bytes);
  // Called when bytes have arrived, copied by `agent`. 0: no agent, as in mbarrier.complete_tx.
  void complete(const Site& site, const SharedPlace& place, std::uint32_t bytes, AgentId agent);
  // cp.async.mbarrier.arrive: this phase waits for one more arrival.
  void add_pending(const Site& site, const SharedPlace& place);
  // Makes the arrival of cp.async.mbarrier.arrive: the copies of these agents are done.
  void arrive_for(const Site& site, const SharedPlace& place, const std::vector<AgentId>& agents);

  // Returns the phase of the state if it has ended; nullopt if it has not.
  std::optional<std::uint64_t> test_state(const Site& site, const SharedPlace& place,
                                          std::uint64_t state);
  // The result for parity 1 of an object in phase 0: the test succeeds, but no phase has ended.
  static constexpr std::uint64_t kNoPhase = ~std::uint64_t{0};
  std::optional<std::uint64_t> test_parity(const Site& site, const SharedPlace& place,
                                           std::uint32_t parity);

  // Called when a warp arrives at a barrier of its CTA (tell) or passes it (hear). Arriving warps
  // tell passing warps which phases have ended. So warpgroups may alternate at a ring of stages.
  void tell(std::uint32_t owner, std::uint32_t warp, std::uint32_t barrier);
  void hear(std::uint32_t owner, std::uint32_t warp, std::uint32_t barrier);

  // A counter of changes of objects. As long as it is constant, no object has changed.
  std::uint64_t changes() const { return changes_; }
  // "\n  mbarrier at shared offset 16: phase 3, 1 of 2 arrivals and 4096 bytes pending"
  std::string describe(std::uint32_t owner) const;
  // The objects of the CTA for whose current phase some thread waits, by offset.
  std::map<std::uint32_t, const Mbarrier*> waited_for(std::uint32_t owner) const;

 private:
  Mbarrier& at(const Site& site, const SharedPlace& place);
  void check_tx(const Site& site, const Mbarrier& object, const SharedPlace& place) const;
  static void note_waiter(const Site& site, Mbarrier& object, std::uint64_t meant);
  void end_phase_if_done(Mbarrier& object, const SharedPlace& place);
  void store(Mbarrier& object, const SharedPlace& place);
  void account(const Site& site, Mbarrier& object, MbarrierEvent event, std::uint64_t amount) const;
  static void note_seen(const Site& site, Mbarrier& object, std::uint64_t phase);

  static std::uint64_t key(const SharedPlace& place) {
    return std::uint64_t{place.owner} << 32 | place.offset;
  }

  AsyncCluster& cluster_;
  std::unordered_map<std::uint64_t, Mbarrier> objects_;
  std::uint64_t changes_ = 0;
};

}  // namespace tessera::vgpu
