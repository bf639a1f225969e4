#include "sass/report/ptx_counts.h"

#include <algorithm>

#include "sass/report/ptx_code.h"

namespace tessera::sass {
namespace {

bool is_compared(const std::string& name) {
  return name == "FFMA" || name == "DFMA" || name.starts_with("LDS.") || name.starts_with("STS.") ||
         name.starts_with("LDG.") || name.starts_with("STG.") || name.starts_with("LD.") ||
         name.starts_with("ST.");
}

Histogram compared_part(const Histogram& histogram) {
  Histogram part;
  for (const auto& [name, count] : histogram) {
    if (is_compared(name)) part[name] = count;
  }
  return part;
}

// Returns the loops that hold anything to compare, in an order that does not depend on their
// positions.
template <class Loops, class HistogramOf>
std::vector<Histogram> compared_loops(const Loops& loops, HistogramOf histogram_of) {
  std::vector<Histogram> parts;
  for (const auto& loop : loops) {
    Histogram part = compared_part(histogram_of(loop));
    if (!part.empty()) parts.push_back(std::move(part));
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

std::string difference(const std::string& where, int in_ptx, int in_cubin) {
  return where + ": " + std::to_string(in_ptx) + " in the PTX, " + std::to_string(in_cubin) +
         " in the cubin";
}

void append_differences(const Histogram& ptx, const Histogram& cubin, const std::string& prefix,
                        std::vector<std::string>& found) {
  Histogram names = ptx;
  names.insert(cubin.begin(), cubin.end());
  for (const auto& [name, unused] : names) {
    const auto count_in = [&key = name](const Histogram& histogram) {
      const auto at = histogram.find(key);
      return at == histogram.end() ? 0 : at->second;
    };
    const int in_ptx = count_in(ptx), in_cubin = count_in(cubin);
    if (in_ptx != in_cubin) found.push_back(difference(prefix + name, in_ptx, in_cubin));
  }
}

}  // namespace

std::vector<PtxKernel> count_ptx(std::string_view ptx) {
  std::vector<PtxKernel> kernels;
  for (const PtxCode& code : read_ptx_code(ptx)) {
    PtxKernel& kernel = kernels.emplace_back();
    kernel.name = code.name;
    const auto count = [&](std::size_t at, Histogram& histogram) {
      const std::string& name = code.instructions[at].machine;
      if (!name.empty()) ++histogram[name];
    };
    for (std::size_t at = 0; at < code.instructions.size(); ++at) count(at, kernel.histogram);
    for (const NaturalLoop& loop : code.loops) {
      Histogram& histogram = kernel.loops.emplace_back();
      for (const std::size_t member : loop.members) count(member, histogram);
    }
  }
  return kernels;
}

std::vector<std::string> differences(const PtxKernel& ptx, const CubinKernel& cubin) {
  std::vector<std::string> found;
  append_differences(compared_part(ptx.histogram), compared_part(cubin.histogram), "", found);
  const auto ptx_loops = compared_loops(ptx.loops, [](const Histogram& loop) { return loop; });
  const auto cubin_loops =
      compared_loops(cubin.loops, [](const Loop& loop) { return loop.histogram; });
  if (ptx_loops.size() != cubin_loops.size()) {
    found.push_back(difference("loops", static_cast<int>(ptx_loops.size()),
                               static_cast<int>(cubin_loops.size())));
    return found;
  }
  for (std::size_t i = 0; i < ptx_loops.size(); ++i) {
    append_differences(ptx_loops[i], cubin_loops[i], "in a loop, ", found);
  }
  return found;
}

}  // namespace tessera::sass
