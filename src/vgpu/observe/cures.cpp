#include "vgpu/observe/cures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace tessera::vgpu {
namespace {

// The PTX lines between which the change must be made: after one access and before the other. In a
// loop, `to` comes before `from` in the text and runs again.
struct Gap {
  FindingPlace from, to;
  bool wraps() const { return from.ptx_line >= to.ptx_line; }
};

std::optional<Gap> gap_of(const Finding& finding) {
  if (finding.cure_at == CureAt::kNowhere || finding.places.empty()) return std::nullopt;
  if (finding.cure_at == CureAt::kBeforeExit) {
    FindingPlace exit;
    exit.ptx_line = std::numeric_limits<int>::max();
    return Gap{finding.places[0], exit};
  }
  if (finding.places.size() != 2) return std::nullopt;
  return Gap{finding.places[1], finding.places[0]};
}

bool is_same_line(const FindingPlace& a, const FindingPlace& b) {
  return a.ptx_line == b.ptx_line || (a.source_line > 0 && a.source_line == b.source_line &&
                                      a.source_file == b.source_file && a.callers == b.callers);
}

// Returns the gap in which one change fixes both findings; nullopt if two changes are needed.
std::optional<Gap> shared_gap(const Gap& a, const Gap& b) {
  if (a.wraps() != b.wraps()) return std::nullopt;
  const FindingPlace& from = a.from.ptx_line > b.from.ptx_line ? a.from : b.from;
  const FindingPlace& to = a.to.ptx_line < b.to.ptx_line ? a.to : b.to;
  if (!a.wraps()) {
    if (from.ptx_line >= to.ptx_line) return std::nullopt;
    return Gap{from, to};
  }
  // If one gap ends before the other begins, the accesses are in separate loops.
  const bool apart = a.from.ptx_line < b.to.ptx_line || b.from.ptx_line < a.to.ptx_line;
  if (apart) return std::nullopt;
  return Gap{from, to};
}

// Whether both checks find accesses in the wrong order. A read that comes too early is reported as
// a race or as a read of unwritten memory, depending on how far the writer has come.
bool are_one_kind(const std::string& a, const std::string& b) {
  const auto is_order = [](const std::string& check) {
    return check == "race" || check == "uninitialised-shared-read";
  };
  return a == b || (is_order(a) && is_order(b));
}

std::optional<Gap> shared_gap(const Finding& a, const Gap& gap_a, const Finding& b,
                              const Gap& gap_b) {
  if (!are_one_kind(a.check, b.check) || a.severity != b.severity) return std::nullopt;
  if (a.cure_at != b.cure_at || a.cure != b.cure) return std::nullopt;
  // WHY: the fence must precede the barrier that orders the accesses, whose position is not known.
  // Findings without a common line may have different barriers.
  if (a.cure_at == CureAt::kBeforeBarrier && !is_same_line(gap_a.from, gap_b.from) &&
      !is_same_line(gap_a.to, gap_b.to)) {
    return std::nullopt;
  }
  return shared_gap(gap_a, gap_b);
}

// The place with the line of the kernel instead of that of an inlined function.
FindingPlace caller_of(FindingPlace place) {
  if (place.callers.empty()) return place;
  std::tie(place.source_file, place.source_line) = place.callers.back();
  place.callers.clear();
  return place;
}

bool does(const FindingPlace& place, const char* verb) {
  return place.what.find(verb) != std::string::npos;
}

// Sorts the gaps by their ends, so that each change fixes as many findings as possible.
std::vector<std::size_t> by_end(const std::vector<std::optional<Gap>>& gaps) {
  std::vector<std::size_t> order(gaps.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return gaps[i] ? gaps[i]->to.ptx_line : 0; });
  return order;
}

}  // namespace

std::string gap_text(const FindingPlace& from, const FindingPlace& to, bool wraps,
                     const LineName& name) {
  std::string first = name(from), second = name(to);
  if (first == second && from.callers != to.callers) {
    first = name(caller_of(from));
    second = name(caller_of(to));
  }
  const bool is_one_line = first == second;
  if (is_one_line && !wraps && does(from, "read") && !does(to, "read")) {
    return fmt::format("between the read and the write of {}, which is to be taken apart", first);
  }
  // A line reads before it writes. If the write comes first, the read is in the next iteration,
  // perhaps of an unrolled loop.
  if (wraps || is_one_line) {
    return fmt::format("after {}, before {} runs again", first, is_one_line ? "it" : second);
  }
  return fmt::format("between {} and {}", first, second);
}

std::string own_line(const FindingPlace& place) {
  if (place.source_line <= 0) return fmt::format("PTX line {}", place.ptx_line);
  const std::string inner = fmt::format("{}:{}", place.source_file, place.source_line);
  if (place.callers.empty()) return inner;
  const auto& [file, line] = place.callers.back();
  return fmt::format("{}:{} (inlined from {})", file, line, inner);
}

std::vector<Cure> by_cure(const std::vector<Finding>& findings) {
  std::vector<std::optional<Gap>> gaps;
  for (const Finding& finding : findings) gaps.push_back(gap_of(finding));
  std::vector<Cure> cures;
  for (const std::size_t i : by_end(gaps)) {
    const auto takes = [&](Cure& cure) {
      const std::size_t first = cure.findings.front();
      if (!gaps[i] || !gaps[first]) return false;
      const std::optional<Gap> both =
          shared_gap(findings[first], {cure.from, cure.to}, findings[i], *gaps[i]);
      if (both) cure.from = both->from, cure.to = both->to;
      return both.has_value();
    };
    const auto at = std::ranges::find_if(cures, takes);
    if (at != cures.end()) {
      at->findings.push_back(i);
    } else {
      const Gap gap = gaps[i].value_or(Gap{});
      cures.push_back({{i}, gap.from, gap.to});
    }
  }
  for (Cure& cure : cures) std::ranges::sort(cure.findings);
  std::ranges::sort(cures, {}, [](const Cure& cure) { return cure.findings.front(); });
  return cures;
}

std::string text_of(const Cure& cure, const std::vector<Finding>& findings, const LineName& name) {
  const Finding& first = findings.at(cure.findings.front());
  if (first.cure_at == CureAt::kNowhere) return first.hint;
  const std::string from = name(cure.from);
  switch (first.cure_at) {
    case CureAt::kBeforeExit:
      return fmt::format("{} after {}, before any CTA of it ends", first.cure, from);
    case CureAt::kBeforeBarrier:
      return fmt::format(
          "{} after {}, in the threads that run it, before the barrier or arrival that leads to {}",
          first.cure, from, name(cure.to));
    default:
      break;
  }
  const bool wraps = Gap{cure.from, cure.to}.wraps();
  return first.cure + " " + gap_text(cure.from, cure.to, wraps, name);
}

}  // namespace tessera::vgpu
