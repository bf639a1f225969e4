// The checks of one worker thread, cluster by cluster. Tracks the events that order threads, and
// compares every access with what its thread knows (its vector clock).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "vgpu/exec/barrier.h"
#include "vgpu/observe/check/agents.h"
#include "vgpu/observe/check/array_bounds.h"
#include "vgpu/observe/check/finding_log.h"
#include "vgpu/observe/check/launch_checks.h"
#include "vgpu/observe/check/mbarriers.h"
#include "vgpu/observe/check/paths.h"
#include "vgpu/observe/check/shadow/shared_shadow.h"
#include "vgpu/observe/check/shadow/updates.h"
#include "vgpu/observe/check/warp_clocks.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu::check {

class ClusterChecker : public Observer {
 public:
  explicit ClusterChecker(LaunchChecks& launch);
  FindingLog& log() { return log_; }

  void cluster_begins(std::uint64_t first, std::uint32_t ctas) override;
  void cluster_ends() override;
  void warp_exits(const Actor& by) override;
  void access(const WarpAccess& access) override;

  // events.cpp
  void warp_syncs(const Actor& by) override;
  void warp_exchanges(const Actor& by) override;
  void barrier_arrives(const Actor& by, std::uint32_t id) override;
  void barrier_passes(const Actor& by, std::uint32_t id) override;
  void cluster_arrives(const Actor& by, MemoryOrder order) override;
  void cluster_passes(const Actor& by, MemoryOrder order) override;
  void fence(const Actor& by, FenceKind kind, MemoryScope scope) override;

  void mbarrier_inits(const Actor& by, MbarrierPlace place) override;
  void mbarrier_ends(const Actor& by, MbarrierPlace place) override;
  void mbarrier_arrives(const Actor& by, MbarrierPlace place, std::uint64_t phase,
                        MemoryOrder order) override;
  void mbarrier_passes(const Actor& by, MbarrierPlace place, std::uint64_t phase,
                       MemoryOrder order) override;

  void agent_starts(const Actor& issuer, AgentId id, AgentKind kind) override;
  void agent_access(const AgentAccess& access) override;
  void agent_signals(AgentId id, MbarrierPlace place, std::uint64_t phase) override;
  void agent_awaited(const Actor& by, AgentId id, bool read_only) override;
  void agent_covered(const Actor& by, AgentId id) override;

  void reads_undefined(const Actor& by, UndefinedSource source) override;
  void notice(Finding finding) override { log_.add(std::move(finding)); }

  // The instructions that read undefined values, each with the place of its first read.
  using UndefinedReads = std::map<std::pair<std::uint32_t, UndefinedSource>, Place>;
  const UndefinedReads& undefined_reads() const { return undefined_reads_; }

 private:
  // The knowledge that the current phase of a barrier passes on.
  struct BarrierClock {
    Clock clock;
    bool opened = false;
    std::optional<Actor> first;  // the first to arrive
    Clock& arriving();           // forgets the last phase when a new one begins
  };
  // An atomic or ordered read, which is reported before it happens. What the warp learns from it is
  // looked up at the next event of the warp.
  struct StrongRead {
    std::uint32_t mask = 0;
    std::uint64_t cell = 0;
    bool is_shared = false, acquires = false;
  };
  // The current access to a cell, by a lane or by an asynchronous agent.
  struct Guest {
    const Clock* clock = nullptr;
    Entity entity = 0;
    Actor by;
    int lane = -1;  // -1: an agent
    const Agent* agent = nullptr;
    int copied_for = -1;  // the one lane whose bytes an agent copies, if it is one
    AccessKind kind = AccessKind::kLoad;
    Reach reach = Reach::kNobody;
    bool is_map = false;  // an agent that looks at its tensor map
    Window window = Window::kShared;
    std::uint32_t owner = 0;
    std::uint32_t bytes = 0;
    std::uint64_t address = 0;
    const WarpAccess* access = nullptr;  // null: an agent's, or that of a barrier object
    std::optional<std::uint32_t> there;  // kGlobal: what the past access stored to the cell
  };
  // An entity's last access to the shared memory of another CTA.
  struct RemoteUse {
    Time time = 0;
    Place place;
  };

  Entity entity_of(const Actor& by) const { return by.cta * warps_per_cta_ + by.warp; }
  WarpClocks& warp_of(const Actor& by);  // with everything known that it has read by now
  Time tick() { return now_++; }
  void learn(const Actor& by, const Clock& more);
  Clock release(const Actor& by);

  // local.cpp
  void access_local(const WarpAccess& access);

  // accesses.cpp
  void access_shared(const WarpAccess& access, WarpClocks& warp, LaneGroup& group,
                     std::uint32_t lanes);
  void access_global(const WarpAccess& access, WarpClocks& warp, LaneGroup& group,
                     std::uint32_t lanes);
  void visit_shared(const Guest& guest, Time floor);
  void visit_shared_by_lane(const AgentAccess& access, Guest& guest, Time floor);
  std::uint32_t lanes_that_may_race(const WarpAccess& access, std::uint32_t lanes);
  bool may_race(const BlockShadow& block, std::uint64_t address, std::uint64_t bytes) const;
  void note_store(const BlockShadow& block, std::uint64_t address, std::uint64_t bytes) const;
  void check_heap(const Guest& guest);
  void check_array(const WarpAccess& access);  // array_bounds.cpp
  void report_array(const WarpAccess& access, const ArrayBounds& bounds, int lane);
  void check_started(const Guest& guest);
  void check_read_only(const Guest& guest, const GlobalCell& cell);
  void check_overtaking(const Guest& guest);  // overtaking.cpp
  bool is_atomic(Site site) const;
  bool follows_own_atomic(const Guest& guest, const GlobalCell& cell) const;
  static bool store_the_same(const WarpAccess& access, int lane, std::uint32_t lanes);
  std::uint32_t value_for(const WarpAccess& access, int lane, std::uint64_t cell) const;
  bool stores_what_lies_there(const Guest& guest, const Past& past) const;
  bool is_one_for_all(const Updates::Seen& seen, std::uint32_t store);
  void find_lost_updates(const WarpAccess& access);
  void report_lost_update(const WarpAccess& access, const Updates::Seen& seen, std::uint32_t lanes);
  void visit_global_cell(const Guest& guest, const GlobalCell& cell, Time floor);
  const BlockShadow* block_of(std::uint32_t instruction, std::uint64_t address);
  void agent_in_shared(const AgentAccess& access, const Agent& agent, Guest& guest);
  void agent_in_global(const AgentAccess& access, const Agent& agent, Guest& guest);
  Guest guest_of(const WarpAccess& access, const LaneGroup& group, Entity entity, int lane) const;

  // order.cpp: atomics and fences
  void note_strong(const WarpAccess& access, WarpClocks& warp);
  void hand_over(const WarpAccess& access, WarpClocks& warp);
  void resolve_strong_reads(WarpClocks& warp, std::vector<StrongRead>& reads);
  void absorb_pending(const Actor& by, WarpClocks& warp);
  void import(Clock& clock, const SharedHorizon& horizon) const;
  SharedHorizon horizon_of(const Clock& clock) const;
  void fence_threads(const Actor& by, WarpClocks& warp, MemoryScope scope);

  // verdicts.cpp
  bool left_behind(const Past& past) const;
  bool is_by_unmet_lane(const Guest& guest, const Past& past) const;
  bool are_strong_together(const Guest& guest, const Past& past) const;
  void judge(const Guest& guest, const Past& past);
  void judge_foreign(const Guest& guest, const GlobalPast& past);
  void report_unordered(const Guest& guest, const Past& past);
  void report_collective(const Guest& guest, const Past& past);
  void report_race(const Guest& guest, const Past& past);
  void report_same_value(const Guest& guest, Site before);
  void report_unmet_lane(const Guest& guest, const Past& past);
  void report_split_barrier(const Actor& later, const Actor& earlier);
  void report_skipped_barrier(const Actor& by);
  void report_lockstep(const Guest& guest, const Past& past);
  void report_unfenced(const Guest& guest, const Past& past);
  void report_foreign_race(const Guest& guest, const GlobalPast& past);
  void report_same_store(const Guest& guest);
  static bool is_same_issue(const Guest& guest, const Past& past);
  void report_uninitialised(const Guest& guest);
  void report_forbidden(const Guest& guest);
  void report_heap_misuse(const Guest& guest, const std::string& misuse);
  void report_unstarted(const Guest& guest);
  void report_read_only(const Guest& guest, const GlobalPast& writer);
  void report_overtaking(const Guest& guest, const std::string& what);
  void report_unseen_init(const Mbarrier& barrier, MbarrierPlace place, const Place& user);
  void report_exited(std::uint32_t owner, const RemoteUse& use);
  Place place_of(const Guest& guest) const;
  Place place_of(const Past& past, const Guest& guest) const;
  std::string who(const Place& place, bool with_cta) const;
  std::string between(const Place& earlier, const Place& later) const;
  bool is_other_way_round(const Guest& guest, const Past& past);
  // Records that the change `cure` at `where`, anywhere between the accesses, fixes the finding.
  static void set_cure(Finding& finding, const std::string& cure, const std::string& where);
  std::string cure_for_race(const Guest& guest, const Past& past, const Place& later,
                            const Place& earlier) const;
  std::string hint_for_race(const Guest& guest, const Past& past, const Place& later,
                            const Place& earlier) const;
  void fill(Finding& finding, const Place& later, const Place& earlier) const;
  void use_mbarrier(const Actor& by, MbarrierPlace place);
  void note_remote(const Guest& guest);
  std::uint64_t cta_index(std::uint64_t first, std::uint32_t rank) const;

  LaunchChecks& launch_;
  FindingLog log_;
  Paths paths_;
  std::uint32_t warps_per_cta_;
  std::uint64_t first_ = 0;    // the cluster's CTA of rank 0
  std::uint64_t cluster_ = 0;  // its name in the shadow of global memory
  std::uint32_t ctas_ = 0;
  Time now_ = 1, start_ = 0;
  std::vector<WarpClocks> warps_;
  std::vector<std::vector<StrongRead>> strong_reads_;  // by warp
  // The last shuffle, vote or similar instruction of each warp. Code often relies on such an
  // instruction as a barrier of the lanes.
  struct Exchange {
    Time time = 0;
    std::uint32_t instruction = 0;
  };
  std::vector<Exchange> exchanges_;
  std::vector<Time> last_;                        // when each entity last did something
  std::vector<SharedShadow> shared_;              // by CTA
  std::vector<SharedShadow::Reads> later_reads_;  // reads of the guest that is being checked
  std::vector<std::array<BarrierClock, kBarriers>> barriers_;
  BarrierClock cluster_barrier_;
  Mbarriers mbarriers_;
  Agents agents_;
  SyncVariables shared_sync_;
  Updates updates_;
  // Lanes of the current store that repeat the update of another lane, so that it does not matter
  // whose value they have read.
  std::uint32_t repeated_ = 0;
  std::vector<ArrayBounds> array_bounds_;   // by instruction
  std::vector<bool> reads_only_;            // instructions that load by the read-only path
  std::vector<const BlockShadow*> blocks_;  // by instruction: the block that it touched last
  std::vector<Clock> exits_;                // by CTA: what its threads knew when they ended
  std::vector<std::uint32_t> ended_;        // by CTA: how many threads have
  std::vector<std::vector<RemoteUse>> remote_uses_;  // by owner, by entity
  // Bytes of shared memory that were read before they were written: owner, address, instruction.
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>> read_early_;
  // By warp, and by byte of local memory: the lanes that have written this byte.
  std::vector<std::vector<std::uint32_t>> local_written_;
  UndefinedReads undefined_reads_;
};

}  // namespace tessera::vgpu::check
