// For each cell of global memory that a launch accesses: its last writer and its last readers, of
// all clusters, which run at the same time on several host threads.
//
// A cell remembers one writer, the plain store before a series of atomics, and two readers. A third
// reader displaces one of these: a later write is compared with only two of many unordered reads.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/memory/global.h"
#include "vgpu/memory/pages.h"
#include "vgpu/observe/check/site.h"
#include "vgpu/observe/written_lines.h"

namespace tessera::vgpu::check {

// An access by an entity of some cluster, which is named by its first CTA. The time counts from the
// start of the cluster.
struct GlobalPast {
  std::uint64_t cluster = 0;
  Past past;
};

class GlobalCell {
 public:
  static constexpr std::uint64_t kClusterMask = (1u << 26) - 1;
  // Stands for all entities from this number on. If so many agents are in flight, they are not
  // distinguished, and no race with them is reported.
  static constexpr Entity kUnknown = 0x7ff;
  static constexpr std::uint64_t kTimeMask = (1u << 27) - 1;
  struct Trace {
    std::uint64_t who = 0;  // cluster, entity and time; 0: none
    Site site = 0;
  };
  static std::uint64_t pack(std::uint64_t cluster, Entity entity, Time time) {
    return cluster << 38 | std::uint64_t{std::min(entity, kUnknown)} << 27 |
           std::min<std::uint64_t>(time, kTimeMask);
  }
  static GlobalPast unpack(const Trace& trace, bool wrote) {
    return {trace.who >> 38,
            {static_cast<Entity>(trace.who >> 27 & 0x7ff), static_cast<Time>(trace.who & kTimeMask),
             trace.site, wrote}};
  }

  // What one thread knows completely: all accesses of its cluster up to a time.
  struct Known {
    std::uint64_t cluster = 0;
    Time until = 0;
    Entity agents = 0;  // entities from here on are agents', which have to be looked at one by one
    bool covers(std::uint64_t who) const {
      return who == 0 || (who >> 38 == cluster && (who & kTimeMask) <= until &&
                          (who >> 27 & kUnknown) < agents);
    }
  };
  bool writer_is_known_to(const Known& known) const {
    return known.covers(who(kWriter)) && known.covers(who(kStore));
  }
  bool all_are_known_to(const Known& known) const {
    return writer_is_known_to(known) && known.covers(who(0)) && known.covers(who(1));
  }

  Trace writer() const { return get(kWriter); }
  // The plain store before the latest series of atomics; its `who` is 0 if there is none.
  Trace store() const { return get(kStore); }
  Trace reader(int i) const { return get(i); }
  // `value` is what a plain store leaves in the cell. WHY it is set before the writer: a host
  // thread that sees the writer must also see the value. Memory itself may not have it yet, if the
  // writer runs on another host thread.
  void note_write(std::uint64_t who, Site site, std::optional<std::uint32_t> value = std::nullopt) {
    value_.store(value.value_or(0), std::memory_order_relaxed);
    has_value_.store(value.has_value(), std::memory_order_relaxed);
    const Trace before = writer();
    if (!is_strong(site)) {
      set(kStore, {});
    } else if (before.who != 0 && !is_strong(before.site)) {
      set(kStore, before);
    }
    set(kWriter, {who, site});
  }
  std::optional<std::uint32_t> value() const {
    if (!has_value_.load(std::memory_order_relaxed)) return std::nullopt;
    return value_.load(std::memory_order_relaxed);
  }
  void note_read(std::uint64_t who, Site site) {
    const std::uint64_t before = this->who(0);
    if (before == who && !is_by_another_lane(site)) return;
    const bool by_same = before >> 27 == who >> 27;
    // A second read by the same entity displaces no other reader.
    const bool displaces = by_same ? is_by_another_lane(site) && may_displace(who) : before != 0;
    if (displaces) set(1, get(0));
    set(0, {who, site});
  }

 private:
  bool is_by_another_lane(Site site) const {
    return lane_of(site_[0].load(std::memory_order_relaxed)) != lane_of(site);
  }
  // Reads by several lanes of one warp do not displace the read of another entity.
  bool may_displace(std::uint64_t by) const { return who(1) == 0 || who(1) >> 27 == by >> 27; }

  static constexpr int kWriter = 2, kStore = 3;
  std::uint64_t who(int i) const { return who_[i].load(std::memory_order_acquire); }
  Trace get(int i) const { return {who(i), site_[i].load(std::memory_order_relaxed)}; }
  void set(int i, const Trace& trace) {
    site_[i].store(trace.site, std::memory_order_relaxed);
    who_[i].store(trace.who, std::memory_order_release);
  }

  std::atomic<std::uint64_t> who_[4];
  std::atomic<Site> site_[4];
  std::atomic<std::uint32_t> value_;
  std::atomic<bool> has_value_;
};

// The cells of one allocation.
class BlockShadow {
 public:
  BlockShadow(const MemoryBlock& block, InitMap& written, const WrittenLinesOfBlock* stores,
              std::uint32_t cell_shift)
      : base_(block.base),
        bytes_(block.bytes),
        shift_(cell_shift),
        written_(written),
        stores_(stores),
        pages_(((block.bytes >> cell_shift) + 1) * sizeof(GlobalCell)) {}

  std::uint64_t base() const { return base_; }
  bool holds(std::uint64_t address) const { return address - base_ < bytes_; }
  GlobalCell& cell(std::uint64_t address) const {
    return static_cast<GlobalCell*>(pages_.data())[(address - base_) >> shift_];
  }
  std::uint32_t cell_bytes() const { return 1u << shift_; }
  InitMap& written() const { return written_; }
  // Null if no lines were recorded; then any line may be stored to.
  const WrittenLinesOfBlock* stores() const { return stores_; }

 private:
  std::uint64_t base_, bytes_;
  std::uint32_t shift_;
  InitMap& written_;
  const WrittenLinesOfBlock* stores_;
  Pages pages_;
};

class GlobalShadow {
 public:
  GlobalShadow(const GlobalMemory& memory, const WrittenLines* lines, std::uint32_t cell_shift);
  // Returns null if the address is in no allocation.
  const BlockShadow* find(std::uint64_t address) const;

 private:
  std::vector<BlockShadow> blocks_;  // by address
};

}  // namespace tessera::vgpu::check
