#include "check/runs/disagreements.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "check/values.h"
#include "vgpu/observe/flow/flow.h"

namespace tessera::checking {
namespace {

// Returns by how much sums of several hundred numbers may differ if the numbers are added in
// different orders.
double rounding_of(ElementType type) {
  if (!is_float(type)) return 0;
  return size_of(type) < 4 ? 0.05 : 1e-4;
}

constexpr std::size_t kMostWrites = 3;  // most writes that a finding names
constexpr std::size_t kMostFlags = 3;   // limit of distinct values in an array of flags or states

// The elements that differ, by element type. Each element is given by its bytes.
using Elements = std::map<ElementType, std::vector<std::string_view>>;

std::vector<std::string_view> elements_of(const HostArray& array) {
  const auto bytes = static_cast<std::size_t>(size_of(array.type));
  const auto* first = reinterpret_cast<const char*>(array.bytes.data());
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < array.elements(); ++i) all.emplace_back(first + i * bytes, bytes);
  return all;
}

// The elements that differ between the results of two runs in different orders of the warps.
struct Reordering {
  Elements here, before;
  std::size_t elements = 0, repeated = 0;  // repeated: elements whose value the array holds twice
  std::size_t fewest = std::numeric_limits<std::size_t>::max();  // distinct values of an array

  void add(const HostArray& now, const HostArray& first) {
    const std::vector<std::string_view> all = elements_of(now), others = elements_of(first);
    std::vector<std::string_view> sorted = others;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == others[i]) continue;
      here[now.type].push_back(all[i]);
      before[now.type].push_back(others[i]);
      ++elements;
      const auto same = std::equal_range(sorted.begin(), sorted.end(), others[i]);
      repeated += same.second - same.first > 1 ? 1 : 0;
    }
    const auto end = std::unique(sorted.begin(), sorted.end());
    fewest = std::min(fewest, static_cast<std::size_t>(end - sorted.begin()));
  }

  // Whether one result is a permutation of the other. WHY arrays with few distinct values do not
  // count: any two arrays of flags with the same counts are permutations. Data may repeat values,
  // too, but has more distinct values.
  bool is_permutation() {
    for (auto& [type, values] : here) std::sort(values.begin(), values.end());
    for (auto& [type, values] : before) std::sort(values.begin(), values.end());
    return here == before && (2 * repeated <= elements || fewest > kMostFlags);
  }
};

// Returns the arrays that these parameters and variables point to.
std::set<std::string> arrays_behind(const std::set<std::string>& names, const CheckPlan& plan) {
  std::set<std::string> arrays;
  const auto add_those_of = [&](const Argument& argument) {
    for (const std::string& array : arrays_named_by(argument)) arrays.insert(array);
    for_each_part(argument, [&](const Argument& part) {
      if (std::holds_alternative<ArrayArgument>(part.value)) arrays.insert(part.name);
    });
  };
  for (std::size_t i = 0; i < plan.arguments.size() && i < plan.kernel.parameters.size(); ++i) {
    if (names.count(plan.kernel.parameters[i].name) != 0) add_those_of(plan.arguments[i]);
  }
  for (const Argument& variable : plan.variables) {
    if (names.count(variable.name) != 0) add_those_of(variable);
  }
  return arrays;
}

// Adds to the finding those stores to the array of which the last one determines the final value,
// perhaps on purpose.
void blame_last_writes(const CheckPlan& plan, const std::string& array, vgpu::Finding& finding) {
  for (const vgpu::LastWrite& one : vgpu::last_writes(plan.code.ptx, plan.kernel.name)) {
    if (arrays_behind({one.pointer}, plan).count(array) == 0) continue;
    if (finding.places.size() < kMostWrites) finding.places.push_back(one.place);
  }
  if (finding.places.empty()) return;
  finding.message = fmt::format(
      "array {} holds what the last atomicExch() leaves there, and the warps take turns in any "
      "order",
      array);
  finding.hint =
      "nothing, if the value of any thread will do; else let the value decide, as atomicMax() "
      "does, or use what the exchange found";
}

bool may_be_time(const Disagreement& one, const CheckResult& result) {
  return result.times.count(one.array) != 0 && !is_float(one.type) && size_of(one.type) >= 4;
}

}  // namespace

void note_disagreements(const std::vector<HostArray>& results, const RunOrder& order,
                        CheckResult& result) {
  Reordering reordering;
  const std::size_t known = result.disagreements.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const HostArray& first = result.results[i];
    const Difference difference = compare(results[i], first, 0);
    if (difference.count == 0) continue;
    const bool beyond = compare(results[i], first, rounding_of(first.type)).count != 0;
    result.disagreements.push_back(
        {first.name, first.type, name_of(order), difference, beyond, false});
    if (!beyond) continue;
    reordering.add(results[i], first);
  }
  if (!reordering.is_permutation()) return;
  for (std::size_t i = known; i < result.disagreements.size(); ++i) {
    result.disagreements[i].is_reordered = result.disagreements[i].beyond_rounding;
  }
}

void judge_disagreements(const CheckPlan& plan, CheckResult& result) {
  if (!result.disagreements.empty()) {
    result.times = arrays_behind(vgpu::pointers_to_times(plan.code.ptx, plan.kernel.name), plan);
  }
  const auto is_reordered = [](const Disagreement& one) { return one.is_reordered; };
  if (std::any_of(result.disagreements.begin(), result.disagreements.end(), is_reordered) &&
      !vgpu::uses_results_of_atomics(plan.code.ptx, plan.kernel.name)) {
    for (Disagreement& one : result.disagreements) one.is_reordered = false;
  }
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
  blame_last_writes(plan, found->array, finding);
  finding.count = found->difference.count;
  result.findings.push_back({finding, 1, 1, found->order});
}

std::string kind_of(const Disagreement& disagreement, const CheckResult& result) {
  if (disagreement.is_reordered) return ", the same elements in other places";
  return may_be_time(disagreement, result) ? ", as the kernel stores times there, or where it runs"
                                           : "";
}

}  // namespace tessera::checking
