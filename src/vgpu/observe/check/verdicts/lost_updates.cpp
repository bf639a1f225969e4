// Several lanes of a warp read a word, compute from it, and store the result: only one of their
// updates remains, in any order of the hardware, and with any barrier between load and store.
#include <fmt/format.h>

#include <bit>

#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {
namespace {

std::uint32_t lanes_at(const WarpAccess& access, std::uint64_t address, std::uint32_t lanes) {
  std::uint32_t there = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    if (access.address[lane] == address) there |= 1u << lane;
  }
  return there;
}

std::string lanes_text(std::uint32_t lanes) {
  constexpr int kMost = 4;
  std::string text;
  for (int shown = 0; lanes != 0 && shown < kMost; ++shown, lanes &= lanes - 1) {
    text += fmt::format("{}{}", shown == 0 ? "" : ", ", std::countr_zero(lanes));
  }
  return text + (lanes != 0 ? ", ..." : "");
}

}  // namespace

// Whether one update by all threads was intended: each thread of the block stores the same value to
// one address, after a barrier that follows the read.
bool ClusterChecker::is_one_for_all(const Updates::Seen& seen, std::uint32_t store) {
  return seen.update->is_common && !paths_.is_free(seen.load, store);
}

// No update is lost if all lanes store one value and repeating the update would not change it.
void ClusterChecker::find_lost_updates(const WarpAccess& access) {
  for (const Updates::Seen& seen : updates_.of_store(entity_of(access.by), access)) {
    if (is_one_for_all(seen, access.by.instruction)) continue;
    FindingLog::Change change{seen.update->atomic, seen.update->accumulates};
    for (std::uint32_t left = seen.lanes; left != 0;) {
      const int lane = std::countr_zero(left);
      const std::uint32_t there = lanes_at(access, access.address[lane], left);
      left &= ~there;
      if (std::has_single_bit(there)) continue;
      if (!change.accumulates && store_the_same(access, lane, there)) {
        if (launch_.context.observation.allows_same_values) repeated_ |= there;
        continue;
      }
      change.is_lost = true;
      report_lost_update(access, seen, there);
    }
    log_.note_update(seen.load, access.by.instruction, change);
  }
}

void ClusterChecker::report_lost_update(const WarpAccess& access, const Updates::Seen& seen,
                                        std::uint32_t lanes) {
  const int lane = std::countr_zero(lanes), count = std::popcount(lanes);
  Finding* finding = log_.note("lost-update", Severity::kError, access.by.instruction, seen.load,
                               access.address[lane], static_cast<std::uint64_t>(count));
  if (!finding) return;
  Place store;
  store.what =
      fmt::format("lanes {} wrote one word of {}", lanes_text(lanes), name_of(access.window));
  store.instruction = access.by.instruction;
  store.cta = cta_index(first_, access.by.cta);
  store.warp = static_cast<int>(access.by.warp);
  store.lane = lane;
  Place load = store;
  load.what = "read it, each to compute what it wrote";
  load.instruction = seen.load;
  fill(*finding, store, load);
  finding->message = capital(
      fmt::format("{} lanes of {} read-modify-write the same word of {}; all updates but one are "
                  "lost",
                  count, who(store, false), name_of(access.window)));
  finding->hint = fmt::format(
      "use an atomic, such as {}, at {}; where one update is meant for all, let one lane do it",
      seen.update->atomic, log_.line(store.instruction));
}

}  // namespace tessera::vgpu::check
