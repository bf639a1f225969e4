#include "vgpu/observe/check/array_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the shared array of this name. Null for local memory, one variable that starts at 0.
const SharedArray* placed(const Kernel& kernel, const ArrayUse& use) {
  const auto found =
      std::find_if(kernel.shared_arrays.begin(), kernel.shared_arrays.end(),
                   [&](const SharedArray& array) { return array.name == use.variable; });
  return found == kernel.shared_arrays.end() ? nullptr : &*found;
}

}  // namespace

std::vector<ArrayBounds> array_bounds(const Kernel& kernel, const std::vector<ArrayUse>* uses) {
  std::vector<ArrayBounds> bounds(kernel.instructions.size());
  if (!uses) return bounds;
  std::multimap<int, const ArrayUse*> by_line;
  for (const ArrayUse& use : *uses) by_line.emplace(use.line, &use);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const int line = kernel.instructions[i].ptx_line;
    if (by_line.count(line) != 1) continue;  // several instructions of a line are not told apart
    const ArrayUse& use = *by_line.find(line)->second;
    const SharedArray* array = use.is_local ? nullptr : placed(kernel, use);
    if (!use.is_local && !array) continue;
    const std::uint64_t first = use.is_local ? kLocalBase : array->offset;
    bounds[i] = {first + use.begin, first + use.end, use.is_local, &use};
  }
  return bounds;
}

std::string array_name(const std::string& variable) {
  for (std::size_t at = variable.size(); at-- > 1;) {
    if (!is_digit(variable[at])) continue;
    std::size_t first = at;
    while (first > 1 && is_digit(variable[first - 1])) --first;
    const std::size_t length = std::stoul(variable.substr(first, at + 1 - first).substr(0, 6));
    if (at + 1 + length == variable.size()) return variable.substr(at + 1);
  }
  return variable;
}

// The neighbouring array is in bounds of the memory, so no other check finds an access to it.
void ClusterChecker::check_array(const WarpAccess& access) {
  const ArrayBounds& bounds = array_bounds_[access.by.instruction];
  if (!bounds.use) return;
  for (std::uint32_t left = access.by.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t address = access.address[lane];
    if (bounds.holds(access.window, address, access.bytes)) continue;
    return report_array(access, bounds, lane);
  }
}

void ClusterChecker::report_array(const WarpAccess& access, const ArrayBounds& bounds, int lane) {
  const std::uint32_t here = access.by.instruction;
  Finding* finding = log_.note("array-overrun", Severity::kError, here, here, 0);
  if (!finding) return;
  finding->has_address = false;
  Guest guest;
  guest.by = access.by;
  guest.lane = lane;
  guest.kind = access.kind;
  guest.window = access.window;
  guest.bytes = access.bytes;
  const Place place = place_of(guest);
  finding->places = {log_.place(place)};
  const auto byte = static_cast<std::int64_t>(access.address[lane] - bounds.begin);
  const std::string name = bounds.is_local ? "an array of its thread"
                                           : "shared array " + array_name(bounds.use->variable);
  finding->message =
      capital(fmt::format("{} {} byte {} of {}, which has {} bytes: it "
                          "lands in what lies beside it",
                          who(place, false), place.does, byte, name, bounds.end - bounds.begin));
  finding->hint =
      fmt::format("check the index at {} against the extent of the array", log_.line(here));
}

}  // namespace tessera::vgpu::check
