#include "check/runs/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tessera::checking {
namespace {

// A number of elements of an array, and the index of the first one.
struct Some {
  std::size_t count = 0, first = 0;
  void add(std::size_t element) {
    if (count++ == 0) first = element;
  }
};

bool has_nan(const HostArray& array) {
  if (!is_float(array.type) || !array.initialised) return false;
  for (std::size_t i = 0; i < array.elements(); ++i) {
    if (is_nan(array, i)) return true;
  }
  return false;
}

bool has_nan(const Argument& argument) {
  const auto* scalar = std::get_if<ScalarArgument>(&argument.value);
  if (!scalar || !is_float(scalar->type)) return false;
  HostArray one;
  one.type = scalar->type;
  one.bytes.assign(scalar->value.begin(), scalar->value.begin() + size_of(scalar->type));
  return is_nan(one, 0);
}

bool has_nan_argument(const CheckPlan& plan) {
  return std::any_of(plan.arrays.begin(), plan.arrays.end(),
                     [](const HostArray& array) { return has_nan(array); }) ||
         std::any_of(plan.arguments.begin(), plan.arguments.end(),
                     [](const Argument& argument) { return has_nan(argument); });
}

// Returns a hint that code may have been removed: the compiler leaves only an undefined value in
// the PTX for code that it considers impossible.
std::string removed_code(const CheckPlan& plan) {
  const bool is_compiled_here = plan.code.path.ends_with(".cu");
  if (!is_compiled_here || plan.code.ptx.find(", debug") != std::string::npos) return "";
  return "; a constant index outside of its array becomes one, too, and --nvcc-arg -G keeps the "
         "index";
}

std::string elements_text(const Some& some, const HostArray& array) {
  return fmt::format("{} of {} elements, first {}", some.count, array.elements(),
                     index_text(array, some.first));
}

}  // namespace

Remarks remarks_on(const CheckPlan& plan, const Placed& placed,
                   const std::vector<HostArray>& results, const VirtualDevice& device) {
  Remarks all;
  std::vector<std::string>& remarks = all.notes;
  const bool looks_for_nan = !has_nan_argument(plan);
  for (std::size_t a = 0; a < results.size(); ++a) {
    const HostArray& array = results[a];
    const bool was_filled = plan.arrays[a].initialised;
    const std::size_t bytes = size_of(array.type);
    Some unwritten, nans;
    for (std::size_t i = 0; i < array.elements(); ++i) {
      const bool is_written =
          was_filled || device.is_written(placed.arrays.at(array.name) + i * bytes, bytes);
      if (!is_written) unwritten.add(i);
      if (is_written && looks_for_nan && is_float(array.type) && is_nan(array, i)) nans.add(i);
    }
    if (unwritten.count != 0) {
      all.unwritten.push_back(fmt::format("{} of {} elements of array {}", unwritten.count,
                                          array.elements(), array.name));
    }
    if (unwritten.count == array.elements()) {
      remarks.push_back(fmt::format("nobody wrote to array {}", array.name));
    } else if (unwritten.count != 0) {
      remarks.push_back(
          fmt::format("array {}: nobody wrote {}", array.name, elements_text(unwritten, array)));
    }
    if (nans.count != 0) {
      remarks.push_back(fmt::format("array {}: NaN in {}, and no argument holds one{}", array.name,
                                    elements_text(nans, array), removed_code(plan)));
    }
  }
  return all;
}

}  // namespace tessera::checking
