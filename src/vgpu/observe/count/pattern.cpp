#include "vgpu/observe/count/pattern.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/observe/count/bank_model.h"

namespace tessera::vgpu {
namespace {

void add(GlobalCounts& to, const GlobalCounts& once, std::uint64_t hits) {
  to.requests += hits * once.requests;
  to.lanes += hits * once.lanes;
  to.requested_bytes += hits * once.requested_bytes;
  to.distinct_bytes += hits * once.distinct_bytes;
  to.sectors += hits * once.sectors;
  to.partial_sectors += hits * once.partial_sectors;
  to.lines += hits * once.lines;
  to.tag_wavefronts += hits * once.tag_wavefronts;
  to.data_wavefronts += hits * once.data_wavefronts;
  to.same_address_lanes += hits * once.same_address_lanes;
}

void add(BankCounts& to, const BankCounts& once, std::uint64_t hits) {
  to.passes += hits * once.passes;
  to.wavefronts += hits * once.wavefronts;
}

void add(SharedCounts& to, const SharedCounts& once, std::uint64_t hits) {
  to.requests += hits * once.requests;
  to.lanes += hits * once.lanes;
  to.requested_bytes += hits * once.requested_bytes;
  add(to.plain, once.plain, hits);
  add(to.pair, once.pair, hits);
  to.same_address_lanes += hits * once.same_address_lanes;
}

constexpr std::uint64_t kLanes32 = 32;

// Returns the number of lanes at the address that most lanes access.
std::uint64_t most_at_one_address(const LaneAccess& access) {
  std::array<std::uint64_t, kLanes32> sorted;
  auto end = sorted.begin();
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    *end++ = access.address[std::countr_zero(left)];
  }
  std::sort(sorted.begin(), end);
  std::ptrdiff_t most = 0;
  for (auto at = sorted.begin(); at != end;) {
    const auto next = std::find_if(at, end, [at](std::uint64_t other) { return other != *at; });
    most = std::max(most, next - at);
    at = next;
  }
  return static_cast<std::uint64_t>(most);
}

// Counts local memory as the hardware lays it out: word w of all lanes is contiguous, so lanes at
// the same stack offset are neighbours. An access of several words has one such row per word.
Request count_local(std::uint32_t mask, std::uint32_t bytes, const std::uint64_t* address) {
  std::uint64_t place[kLanes32];
  for (std::size_t l = 0; l < kLanes32; ++l) {
    const std::uint64_t word = address[l] / kWordBytes;
    place[l] = (word * kLanes32 + l) * kWordBytes + address[l] % kWordBytes;
  }
  const std::uint32_t words = std::max<std::uint32_t>(bytes / kWordBytes, 1);
  Request row = count_request({mask, bytes / words, place});
  GlobalCounts all;
  add(all, row.counts, words);
  all.requests = 1;
  all.lanes = row.counts.lanes;
  row.counts = all;
  return row;
}

}  // namespace

Pattern::Pattern(const WarpAccess& access, bool merges)
    : mask_(access.by.mask),
      window_(access.window),
      kind_(access.kind),
      bytes_(access.bytes),
      remainder_(access.address[0] % kStep) {
  for (std::size_t l = 0; l < distance_.size(); ++l) {
    distance_[l] = access.address[l] - access.address[0];
  }
  const LaneAccess lanes{mask_, bytes_, access.address};
  if (kind_ == AccessKind::kAtomic) same_address_lanes_ = most_at_one_address(lanes);
  if (window_ != Window::kShared) return;
  shared_once_.same_address_lanes = same_address_lanes_;
  shared_once_.requests = 1;
  shared_once_.lanes = static_cast<std::uint64_t>(std::popcount(mask_));
  shared_once_.requested_bytes = shared_once_.lanes * bytes_;
  shared_once_.plain = count_banks(BankModel::kPlain, lanes, merges);
  shared_once_.pair = count_banks(BankModel::kPair, lanes, merges);
}

void Pattern::count_global(std::uint64_t base, ClusterFootprint* to) {
  Phase& phase = phase_of(base);
  ++phase.hits;
  const std::uint64_t sector = base / kSectorBytes;
  if (!to || (phase.runs == marked_ && sector == marked_sector_)) return;
  marked_ = phase.runs;
  marked_sector_ = sector;
  mark(*to, sector);
}

void Pattern::mark(ClusterFootprint& to, std::uint64_t sector) const {
  for (const SectorRun& run : *marked_) {
    const std::uint64_t first = sector + static_cast<std::uint64_t>(run.first);
    if (kind_ != AccessKind::kStore) to.mark(Touch::kRead, first, run.count);
    if (kind_ != AccessKind::kLoad) to.mark(Touch::kWritten, first, run.count);
  }
}

Pattern::Phase& Pattern::phase_of(std::uint64_t base) {
  Phase& phase = phases_[base % kLineBytes / kStep];
  if (phase.runs) return phase;
  std::uint64_t address[kLanes32];
  for (std::size_t l = 0; l < kLanes32; ++l) address[l] = base + distance_[l];
  Request request = window_ == Window::kLocal ? count_local(mask_, bytes_, address)
                                              : count_request({mask_, bytes_, address});
  if (kind_ == AccessKind::kLoad) request.counts.partial_sectors = 0;
  phase.once = request.counts;
  phase.once.same_address_lanes = same_address_lanes_;
  for (SectorRun& run : request.runs) run.first -= static_cast<std::int64_t>(base / kSectorBytes);
  phase.runs = kept(std::move(request.runs));
  return phase;
}

// Equal runs are stored once, so that comparing their addresses compares them.
const std::vector<SectorRun>* Pattern::kept(std::vector<SectorRun> runs) {
  for (const auto& known : runs_) {
    if (*known == runs) return known.get();
  }
  runs_.push_back(std::make_unique<const std::vector<SectorRun>>(std::move(runs)));
  return runs_.back().get();
}

void Pattern::flush(MemoryCounts& to) {
  add(to.shared, shared_once_, std::exchange(shared_hits_, 0));
  GlobalCounts& here = window_ == Window::kLocal ? to.local : to.global;
  for (Phase& phase : phases_) {
    if (phase.hits != 0) add(here, phase.once, std::exchange(phase.hits, 0));
  }
}

Pattern& PatternMemo::find(const WarpAccess& access, bool merges) {
  if (patterns_[last_] && patterns_[last_]->matches(access)) return *patterns_[last_];
  for (std::size_t i = 0; i < kKept; ++i) {
    if (patterns_[i] && patterns_[i]->matches(access)) {
      last_ = i;
      return *patterns_[i];
    }
  }
  last_ = next_;
  next_ = (next_ + 1) % kKept;
  if (patterns_[last_]) patterns_[last_]->flush(counts_);
  patterns_[last_] = std::make_unique<Pattern>(access, merges);
  return *patterns_[last_];
}

void PatternMemo::forget_places() {
  for (const auto& pattern : patterns_) {
    if (pattern) pattern->forget_place();
  }
}

MemoryCounts PatternMemo::take() {
  for (const auto& pattern : patterns_) {
    if (pattern) pattern->flush(counts_);
  }
  return std::exchange(counts_, {});
}

}  // namespace tessera::vgpu
