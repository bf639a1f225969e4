// The launches of a plan. They hold no addresses: each address in a kernel's parameters is a patch
// (a slot, and a distance from it in bytes), which is applied when the plan is executed. So one
// plan serves any number of operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "launch/launch.h"
#include "launch/params.h"
#include "problem/operands.h"

namespace tessera::gemm {

// The canonical form of a problem as kernels are handed it.
GemmParams canonical_params(const Problem& problem, const Operands& operands);

// The caller's operands, numbered as in the table of operands, and the workspace.
enum class Slot : std::uint8_t { kA, kB, kC, kD, kScale, kBias, kWorkspace };
static_assert(static_cast<std::size_t>(Slot::kWorkspace) == kOperands);
constexpr OperandId operand_of(Slot slot) { return static_cast<OperandId>(slot); }

// An address that is not known yet.
struct Place {
  Slot slot = Slot::kA;
  std::int64_t delta = 0;  // bytes

  Place moved(std::int64_t bytes) const { return {slot, delta + bytes}; }
  bool operator==(const Place&) const = default;
};

struct AddressPatch {
  std::size_t offset;  // in the parameters
  Place place;

  bool operator==(const AddressPatch&) const = default;
};

// A tensor map; `desc` has no address.
struct MapPatch {
  std::size_t offset;  // a multiple of 64
  TensorMapDesc desc;
  Place place;

  bool operator==(const MapPatch&) const = default;
};

// alpha or beta, a double in the parameters.
enum class Scale : std::uint8_t { kAlpha, kBeta };
struct ScalePatch {
  std::size_t offset;
  Scale scale;

  bool operator==(const ScalePatch&) const = default;
};

struct PlannedLaunch {
  Launch launch;  // its parameters hold zeros where patches go, and it has no tensor maps
  std::vector<AddressPatch> addresses = {};
  std::vector<MapPatch> maps = {};
  std::vector<ScalePatch> scales = {};
};

// What a launch multiplies: sizes and strides, and where its operands are.
struct Product {
  GemmParams params;  // canonical, without addresses
  Place a, b, c, d;
};

// A launch with this one parameter block.
template <class Params>
PlannedLaunch launch_of(const std::string& entry, const LaunchShape& shape, const Params& params) {
  PlannedLaunch planned{.launch = {.entry = entry, .shape = shape, .params = {}}};
  planned.launch.params.resize(sizeof params);
  std::memcpy(planned.launch.params.data(), &params, sizeof params);
  return planned;
}

// Patches for the addresses of GemmParams at `offset`, and for the scales that are not zero.
void patch_product(PlannedLaunch& launch, std::size_t offset, const Product& product);

}  // namespace tessera::gemm
