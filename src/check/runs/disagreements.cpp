#include "check/runs/disagreements.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

namespace tessera::checking {
namespace {

// Registers that tell when or where a thread runs.
constexpr const char* kTellers[] = {"%clock", "%globaltimer", "%smid", "%warpid"};

// How far sums of some hundred numbers in different orders may be apart.
double rounding_of(ElementType type) {
  if (!is_float(type)) return 0;
  return size_of(type) < 4 ? 0.05 : 1e-4;
}

// The elements of the arrays, type by type, in ascending order of their bytes.
using Elements = std::map<ElementType, std::vector<std::string_view>>;

void add(const HostArray& array, Elements& elements) {
  const auto bytes = static_cast<std::size_t>(size_of(array.type));
  const auto* first = reinterpret_cast<const char*>(array.bytes.data());
  std::vector<std::string_view>& all = elements[array.type];
  for (std::size_t i = 0; i < array.elements(); ++i) all.emplace_back(first + i * bytes, bytes);
}

bool are_equal(Elements& one, Elements& other) {
  for (auto& [type, elements] : one) std::sort(elements.begin(), elements.end());
  for (auto& [type, elements] : other) std::sort(elements.begin(), elements.end());
  return one == other;
}

bool reads_clock(const std::string& ptx) {
  return std::any_of(std::begin(kTellers), std::end(kTellers),
                     [&](const char* one) { return ptx.find(one) != ptx.npos; });
}

bool may_be_time(const Disagreement& one, const CheckResult& result) {
  return result.reads_clock && !is_float(one.type) && size_of(one.type) >= 4;
}

}  // namespace

void note_disagreements(const std::vector<HostArray>& results, const RunOrder& order,
                        CheckResult& result) {
  Elements here, before;
  const std::size_t known = result.disagreements.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const HostArray& first = result.results[i];
    const Difference difference = compare(results[i], first, 0);
    if (difference.count == 0) continue;
    const bool beyond = compare(results[i], first, rounding_of(first.type)).count != 0;
    result.disagreements.push_back(
        {first.name, first.type, name_of(order), difference, beyond, false});
    if (!beyond) continue;
    add(results[i], here);
    add(first, before);
  }
  if (!are_equal(here, before)) return;
  for (std::size_t i = known; i < result.disagreements.size(); ++i) {
    result.disagreements[i].is_reordered = result.disagreements[i].beyond_rounding;
  }
}

void judge_disagreements(const CheckPlan& plan, CheckResult& result) {
  result.reads_clock = reads_clock(plan.code.ptx);
  const auto found = std::find_if(
      result.disagreements.begin(), result.disagreements.end(), [&](const Disagreement& one) {
        return one.beyond_rounding && !one.is_reordered && !may_be_time(one, result);
      });
  if (found == result.disagreements.end() || result.wrong() != 0) return;
  vgpu::Finding finding;
  finding.check = "order-dependent-result";
  finding.message = fmt::format(
      "array {} holds other elements when the warps take turns in another order", found->array);
  finding.hint =
      "If any of these results is as good as the other, nothing; else order what decides it.";
  finding.count = found->difference.count;
  result.findings.push_back({finding, 1, 1, found->order});
}

std::string kind_of(const Disagreement& disagreement, const CheckResult& result) {
  if (disagreement.is_reordered) return ", the same elements in other places";
  return may_be_time(disagreement, result) ? ", as the kernel reads a clock or asks where it runs"
                                           : "";
}

}  // namespace tessera::checking
