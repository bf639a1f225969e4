#include "lab/verify/cures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tessera::lab {
namespace {

using vgpu::Finding;
using vgpu::FindingPlace;

// Where a barrier of the CTA mends a finding: at any place after one access and before the other,
// by lines of the PTX. In a loop the later access comes first, and runs again.
struct Gap {
  FindingPlace from, to;
  bool wraps() const { return from.ptx_line >= to.ptx_line; }
};

std::optional<Gap> gap_of(const Finding& finding) {
  const bool by_barrier = finding.check == "race" && finding.places.size() == 2 &&
                          finding.hint.starts_with("put __syncthreads()");
  if (!by_barrier) return std::nullopt;
  return Gap{finding.places[1], finding.places[0]};
}

// The gap that is left for one barrier that mends both; none where it takes two.
std::optional<Gap> shared_gap(const Gap& a, const Gap& b) {
  if (a.wraps() != b.wraps()) return std::nullopt;
  const FindingPlace& from = a.from.ptx_line > b.from.ptx_line ? a.from : b.from;
  const FindingPlace& to = a.to.ptx_line < b.to.ptx_line ? a.to : b.to;
  if (!a.wraps()) {
    if (from.ptx_line >= to.ptx_line) return std::nullopt;
    return Gap{from, to};
  }
  // Loops that lie apart have an end each.
  const bool apart = a.from.ptx_line < b.to.ptx_line || b.from.ptx_line < a.to.ptx_line;
  if (apart) return std::nullopt;
  return Gap{from, to};
}

std::string text_of(const Gap& gap) {
  return gap.wraps() ? fmt::format("put __syncthreads() after {}, before {} runs again",
                                   own_line(gap.from), own_line(gap.to))
                     : fmt::format("put __syncthreads() between {} and {}", own_line(gap.from),
                                   own_line(gap.to));
}

}  // namespace

std::string own_line(const FindingPlace& place) {
  if (place.source_line <= 0) return fmt::format("PTX line {}", place.ptx_line);
  const std::string inner = fmt::format("{}:{}", place.source_file, place.source_line);
  if (place.callers.empty()) return inner;
  const auto& [file, line] = place.callers.back();
  return fmt::format("{}:{} (inlined from {})", file, line, inner);
}

std::vector<Cure> by_cure(const std::vector<Finding>& findings) {
  std::vector<Cure> cures;
  std::vector<std::optional<Gap>> gaps;  // of each cure
  // WHY: the gaps that end first choose first; so each barrier mends as many as it can.
  std::vector<const Finding*> order;
  for (const Finding& finding : findings) order.push_back(&finding);
  std::ranges::stable_sort(order, {}, [](const Finding* finding) {
    const std::optional<Gap> gap = gap_of(*finding);
    return gap ? gap->to.ptx_line : 0;
  });
  for (const Finding* finding : order) {
    const std::optional<Gap> gap = gap_of(*finding);
    std::size_t at = 0;
    for (; gap && at < cures.size(); ++at) {
      const std::optional<Gap> both = gaps[at] ? shared_gap(*gaps[at], *gap) : std::nullopt;
      if (!both) continue;
      gaps[at] = both;
      cures[at].findings.push_back(*finding);
      break;
    }
    if (gap && at < cures.size()) continue;
    cures.push_back({{*finding}, finding->hint});
    gaps.push_back(gap);
  }
  for (std::size_t i = 0; i < cures.size(); ++i) {
    if (gaps[i]) cures[i].what = text_of(*gaps[i]);
  }
  return cures;
}

}  // namespace tessera::lab
