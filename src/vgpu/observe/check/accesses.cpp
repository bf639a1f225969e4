// Checks accesses to memory cell by cell. A fast test finds cells whose accesses are all known to
// be ordered; the others are compared one by one.
#include <algorithm>
#include <bit>

#include "vgpu/memory/device_heap.h"
#include "vgpu/memory/global.h"
#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {

ClusterChecker::Guest ClusterChecker::guest_of(const WarpAccess& access, const LaneGroup& group,
                                               Entity entity, int lane) const {
  Guest guest;
  guest.clock = &group.clock;
  guest.entity = entity;
  guest.by = access.by;
  guest.lane = lane;
  guest.kind = access.kind;
  guest.reach = reach_of(access.kind, access.order, access.scope);
  guest.window = access.window;
  guest.owner = access.owner;
  guest.bytes = access.bytes;
  guest.address = access.address[lane];
  guest.access = &access;
  return guest;
}

// ---- shared memory ------------------------------------------------------------------------------

void ClusterChecker::access_shared(const WarpAccess& access, WarpClocks& warp, LaneGroup& group,
                                   std::uint32_t lanes) {
  SharedShadow& shadow = shared_[access.owner];
  const Reach reach = reach_of(access.kind, access.order, access.scope);
  const Visitor visitor{warp.self(), site_of(access.by.instruction, reach), start_, group.floor,
                        now_};
  const bool writes = access.kind != AccessKind::kLoad;
  if (!writes) updates_.note_load(warp.self(), access, lanes);
  std::uint32_t odd = 0;
  if (writes) odd = shadow.look_before_write(visitor, lanes, access.address, access.bytes);
  if (access.kind != AccessKind::kStore) {
    odd |= shadow.read(visitor, lanes, access.address, access.bytes);
  }
  for (; odd != 0; odd &= odd - 1) {
    const int lane = std::countr_zero(odd);
    visit_shared(guest_of(access, group, warp.self(), lane), group.floor);
  }
  if (access.owner != access.by.cta) {
    check_started(guest_of(access, group, warp.self(), std::countr_zero(lanes)));
    note_remote(guest_of(access, group, warp.self(), std::countr_zero(lanes)));
  }
  if (!writes) return;
  std::uint32_t twice = shadow.write(visitor, lanes, access.address, access.bytes);
  if (reach != Reach::kNobody) return;
  for (std::uint32_t left = twice; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Guest guest = guest_of(access, group, warp.self(), lane);
    if (launch_.context.observation.allows_same_values && store_the_same(access, lane, twice)) {
      report_same_value(guest, site_of(access.by.instruction, reach));
    } else {
      report_same_store(guest);
    }
  }
}

// Compares an access with all accesses to its cells that are later than `floor`.
void ClusterChecker::visit_shared(const Guest& guest, Time floor) {
  const SharedShadow& shadow = shared_[guest.owner];
  const std::uint32_t begin = shadow.cell_of(guest.address);
  const std::uint32_t end = shadow.end_of(guest.address, guest.bytes);
  later_reads_.clear();
  if (guest.kind != AccessKind::kLoad) shadow.find_later_reads(begin, end, floor, later_reads_);
  for (std::uint32_t cell = begin; cell < end; ++cell) {
    Guest here = guest;
    here.address = std::uint64_t{cell} * shadow.cell_bytes();
    const Past writer = shadow.writer(cell);
    if (writer.time == SharedShadow::kForbidden) {
      report_forbidden(here);
      continue;
    }
    if (writer.time <= start_) {
      if (guest.kind != AccessKind::kStore) report_uninitialised(here);
    } else if (writer.time > floor) {
      judge(here, writer);
    }
    for (const SharedShadow::Reads& reads : later_reads_) {
      const std::uint64_t read = reads.cells[cell];
      const Time time = SharedShadow::time_of(read);
      if (time > floor) judge(here, {reads.entity, time, static_cast<Site>(read), false});
    }
  }
}

// A CTA of the cluster is known to have started only if some action of its threads is known.
void ClusterChecker::check_started(const Guest& guest) {
  if (guest.clock->started >> guest.owner & 1) return;
  const Entity first = guest.owner * warps_per_cta_;
  for (Entity e = first; e < first + warps_per_cta_; ++e) {
    if (guest.clock->has_seen(e, start_ + 1)) return;
  }
  report_unstarted(guest);
}

void ClusterChecker::note_remote(const Guest& guest) {
  std::vector<RemoteUse>& uses = remote_uses_[guest.owner];
  if (guest.entity >= uses.size()) uses.resize(guest.entity + 1);
  uses[guest.entity] = {now_, place_of(guest)};
}

// ---- global memory ------------------------------------------------------------------------------

const BlockShadow* ClusterChecker::block_of(std::uint32_t instruction, std::uint64_t address) {
  const BlockShadow*& block = blocks_[instruction];
  if (!block || !block->holds(address)) block = launch_.global.find(address);
  return block;
}

bool ClusterChecker::may_race(const BlockShadow& block, std::uint64_t address,
                              std::uint64_t bytes) const {
  return !block.stores() || !block.written().is_complete() || block.stores()->any(address, bytes);
}

// Returns the lanes whose reads may race: memory that the launch never stores to is left out.
std::uint32_t ClusterChecker::lanes_that_may_race(const WarpAccess& access, std::uint32_t lanes) {
  // If all addresses lie in an aligned window of this many bytes, the window is looked up at once.
  constexpr std::uint64_t kWindow = 8192;
  const std::uint64_t* address = access.address;
  const std::uint64_t first = address[0];
  std::uint64_t different = 0;
  for (int l = 0; l < 32; ++l) different |= address[l] ^ first;
  const BlockShadow* block = block_of(access.by.instruction, first);
  if (different < kWindow && block) {
    const std::uint64_t bytes = std::bit_ceil(different + 1);
    if (!may_race(*block, first & ~(bytes - 1), bytes + access.bytes)) return 0;
  }
  std::uint32_t may = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    block = block_of(access.by.instruction, address[lane]);
    if (!block || may_race(*block, address[lane], access.bytes)) may |= 1u << lane;
  }
  return may;
}

void ClusterChecker::note_store(const BlockShadow& block, std::uint64_t address,
                                std::uint64_t bytes) const {
  if (block.stores() && !block.stores()->any(address, bytes)) {
    launch_.context.observation.written_lines->miss();
  }
}

void ClusterChecker::access_global(const WarpAccess& access, WarpClocks& warp, LaneGroup& group,
                                   std::uint32_t lanes) {
  const bool reads = access.kind != AccessKind::kStore, writes = access.kind != AccessKind::kLoad;
  if (launch_.context.earlier && !group.clock.earlier_have_ended) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      check_overtaking(guest_of(access, group, warp.self(), std::countr_zero(left)));
    }
  }
  if (!writes && launch_.context.observation.written_lines) {
    lanes = lanes_that_may_race(access, lanes);
    if (lanes == 0) return;
  }
  if (!writes) updates_.note_load(warp.self(), access, lanes);
  const bool is_read_only = reads_only_[access.by.instruction];
  const Site site =
      site_of(access.by.instruction, reach_of(access.kind, access.order, access.scope));
  const std::uint64_t who = GlobalCell::pack(cluster_, warp.self(), now_ - start_);
  const GlobalCell::Known known{cluster_, group.floor - start_, ctas_ * warps_per_cta_};
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::uint64_t address = access.address[lane];
    const BlockShadow* block = block_of(access.by.instruction, address);
    if (!block) continue;
    if (writes) note_store(*block, address, access.bytes);
    if (launch_.context.heap && launch_.context.heap->holds(address)) [[unlikely]] {
      check_heap(guest_of(access, group, warp.self(), lane));
    }
    if (!block->written().is_complete()) {
      const std::uint64_t offset = address - block->base();
      if (reads && !block->written().is_marked(offset, access.bytes)) {
        report_uninitialised(guest_of(access, group, warp.self(), lane));
      }
      if (writes) block->written().mark_while_running(offset, access.bytes);
    }
    for (const std::uint64_t end = address + access.bytes; address < end;
         address += block->cell_bytes()) {
      GlobalCell& cell = block->cell(address);
      if (!(writes ? cell.all_are_known_to(known) : cell.writer_is_known_to(known))) {
        Guest guest = guest_of(access, group, warp.self(), lane);
        guest.address = address;
        visit_global_cell(guest, cell, group.floor);
      }
      if (is_read_only) check_read_only(guest_of(access, group, warp.self(), lane), cell);
      if (reads) cell.note_read(who, with_lane(site, lane));
      if (!writes) continue;
      std::optional<std::uint32_t> value;
      if (access.values) value = value_for(access, lane, address);
      cell.note_write(who, with_lane(site, lane), value);
    }
  }
}

// Checks that the read-only path does not read data that the kernel has stored. This is an error
// even if the store is ordered before the read; unordered accesses are reported as a race.
void ClusterChecker::check_read_only(const Guest& guest, const GlobalCell& cell) {
  const GlobalCell::Trace last = cell.writer();
  if (last.who == 0) return;
  GlobalPast writer = GlobalCell::unpack(last, true);
  const Past& past = writer.past;
  const bool is_ordered =
      writer.cluster == cluster_
          ? past.entity == guest.entity || guest.clock->has_seen(past.entity, past.time + start_)
          : knows(guest.clock->others, writer.cluster, past.entity, past.time);
  if (is_ordered) report_read_only(guest, writer);
}

// The heap is one allocation, so the executor does not notice accesses outside its pieces.
void ClusterChecker::check_heap(const Guest& guest) {
  const std::string misuse = launch_.context.heap->misuse(guest.address, guest.bytes);
  if (!misuse.empty()) report_heap_misuse(guest, misuse);
}

bool ClusterChecker::is_atomic(Site site) const {
  const std::string& form = launch_.context.kernel->instructions[instruction_of(site)].form;
  return is_strong(site) && (form.starts_with("atom") || form.starts_with("red"));
}

// Whether the last change of the word was an atomic that precedes this access, in this thread or by
// synchronisation. All changes of a word have one order, so atomics of other threads precede that
// one, too. Therefore the last CTA that counts may reset the counter.
bool ClusterChecker::follows_own_atomic(const Guest& guest, const GlobalCell& cell) const {
  const GlobalCell::Trace last = cell.writer();
  if (guest.agent || last.who == 0) return false;
  const GlobalPast writer = GlobalCell::unpack(last, true);
  if (writer.cluster != cluster_ || !is_atomic(writer.past.site)) return false;
  const bool is_own = writer.past.entity == guest.entity &&
                      lane_of(writer.past.site) == guest.lane && !is_by_several(writer.past.site);
  return is_own || guest.clock->has_seen(writer.past.entity, writer.past.time + start_);
}

void ClusterChecker::visit_global_cell(const Guest& guest, const GlobalCell& cell, Time floor) {
  const bool after_own_atomic = follows_own_atomic(guest, cell);
  Guest here = guest;
  const auto visit = [&](const GlobalCell::Trace& trace, bool wrote) {
    if (trace.who == 0) return;
    GlobalPast before = GlobalCell::unpack(trace, wrote);
    if (after_own_atomic && is_atomic(before.past.site)) return;
    if (before.cluster != cluster_) return judge_foreign(here, before);
    before.past.time += start_;
    if (before.past.entity == GlobalCell::kUnknown) return;
    if (before.past.time > floor || agents_.is_agent(before.past.entity)) judge(here, before.past);
  };
  here.there = cell.value();
  visit(cell.writer(), true);
  here.there = std::nullopt;
  visit(cell.store(), true);
  if (guest.kind == AccessKind::kLoad) return;
  visit(cell.reader(0), false);
  visit(cell.reader(1), false);
}

// ---- asynchronous agents ------------------------------------------------------------------------

void ClusterChecker::agent_access(const AgentAccess& access) {
  const Agent* agent = agents_.find(access.agent);
  if (!agent) return;
  Guest guest;
  guest.clock = &agent->clock;
  guest.entity = access.kind == AccessKind::kLoad ? agent->reads : agent->writes;
  guest.by = agent->issuer;
  guest.by.instruction = access.instruction;
  guest.agent = agent;
  guest.kind = access.kind;
  if (access.kind == AccessKind::kAtomic) guest.reach = Reach::kAll;
  guest.is_map = access.is_map;
  guest.window = access.window;
  guest.owner = access.owner;
  guest.address = access.address;
  guest.bytes = static_cast<std::uint32_t>(access.bytes);
  // WHY not for global memory: a kernel need not wait for the store of a tile. A store without a
  // known end would keep all floors low, so that accesses to shared memory would take the slow
  // test.
  if (access.window == Window::kShared) at(last_, guest.entity) = now_;
  if (access.window == Window::kShared) agent_in_shared(access, *agent, guest);
  if (access.window == Window::kGlobal) agent_in_global(access, *agent, guest);
}

// If lanes copy their own bytes, checks each lane's bytes separately.
void ClusterChecker::visit_shared_by_lane(const AgentAccess& access, Guest& guest, Time floor) {
  if (access.lane_bytes == 0 || !guest.agent->is_generic()) return visit_shared(guest, floor);
  const Guest whole = guest;
  guest.bytes = access.lane_bytes;
  for (std::uint64_t done = 0; done < access.bytes; done += access.lane_bytes) {
    guest.copied_for = static_cast<int>(access.lane + done / access.lane_bytes);
    guest.address = access.address + done;
    visit_shared(guest, floor);
  }
  guest = whole;
}

void ClusterChecker::agent_in_shared(const AgentAccess& access, const Agent& agent, Guest& guest) {
  SharedShadow& shadow = shared_[access.owner];
  const bool reads = access.kind != AccessKind::kStore, writes = access.kind != AccessKind::kLoad;
  const Visitor visitor{guest.entity, site_of(access.instruction, guest.reach), start_, agent.floor,
                        now_};
  if (access.owner != agent.issuer.cta) {
    check_started(guest);
    note_remote(guest);
  }
  visit_shared_by_lane(access, guest, agent.floor);
  const std::uint32_t end = shadow.end_of(access.address, access.bytes);
  for (std::uint32_t cell = shadow.cell_of(access.address); cell < end; ++cell) {
    if (shadow.writer(cell).time == SharedShadow::kForbidden) continue;
    Visitor lane = visitor;
    if (access.lane_bytes != 0) {
      const std::uint64_t into = std::uint64_t{cell} * shadow.cell_bytes() - access.address;
      lane.site = with_lane(lane.site, static_cast<int>(access.lane + into / access.lane_bytes));
    }
    if (reads) shadow.read_cell(lane, cell);
    if (writes) shadow.write_cell(lane, cell);
  }
}

void ClusterChecker::agent_in_global(const AgentAccess& access, const Agent& agent, Guest& guest) {
  if (launch_.context.earlier && !agent.clock.earlier_have_ended) check_overtaking(guest);
  const BlockShadow* block = launch_.global.find(access.address);
  if (!block) return;
  const bool reads = access.kind != AccessKind::kStore, writes = access.kind != AccessKind::kLoad;
  if (!writes && !may_race(*block, access.address, access.bytes)) return;
  if (writes) note_store(*block, access.address, access.bytes);
  const std::uint64_t offset = access.address - block->base();
  if (reads && !block->written().is_marked(offset, access.bytes)) report_uninitialised(guest);
  if (writes) block->written().mark_while_running(offset, access.bytes);
  const std::uint64_t who = GlobalCell::pack(cluster_, guest.entity, now_ - start_);
  const Site site = site_of(access.instruction, guest.reach);
  // A box of a tensor may begin at any element, so the first cell may begin before the box.
  guest.address -= guest.address % block->cell_bytes();
  for (const std::uint64_t end = access.address + access.bytes; guest.address < end;
       guest.address += block->cell_bytes()) {
    GlobalCell& cell = block->cell(guest.address);
    visit_global_cell(guest, cell, access.is_map ? start_ : agent.floor);
    if (reads) cell.note_read(who, site);
    if (writes) cell.note_write(who, site);
  }
}

}  // namespace tessera::vgpu::check
