// The steps of a plan: launches that name slots and temps instead of addresses. Each address in a
// kernel's parameters is a patch (a slot or a temp, and a distance from it in bytes), which is
// applied when the plan is executed. So one plan serves any number of operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "launch/launch.h"
#include "launch/params.h"
#include "problem/operands.h"

namespace tessera::gemm {

// The canonical form of a problem as kernels are handed it.
GemmParams canonical_params(const Problem& problem, const Operands& operands);
// The same for a problem as it is, without addresses: of one in column-major order, whose D the
// kernel stores transposed, too.
GemmParams params_of(const Problem& problem);

// The caller's operands, numbered as in the table of operands (slot_of), the workspace, and A and B
// in the form that a family reads (gemm/call/pack.h).
enum class Slot : std::uint8_t { kA, kB, kC, kD, kWorkspace = kOperands, kPackedA, kPackedB };
constexpr OperandId operand_of(Slot slot) { return static_cast<OperandId>(slot); }
constexpr Slot slot_of(OperandId id) { return static_cast<Slot>(id); }
constexpr Slot packed_slot_of(Slot operand) {
  return operand == Slot::kA ? Slot::kPackedA : Slot::kPackedB;
}

// An address that is not known yet: a distance from a slot or, in the workspace, from a temp.
struct PlannedAddress {
  Slot slot = Slot::kA;
  std::int64_t delta = 0;  // bytes
  int temp = 0;            // which piece of the workspace

  PlannedAddress moved(std::int64_t bytes) const { return {slot, delta + bytes, temp}; }
  bool operator==(const PlannedAddress&) const = default;
};
constexpr PlannedAddress address_of_temp(int temp) { return {Slot::kWorkspace, 0, temp}; }

struct AddressPatch {
  std::size_t offset;  // in the parameters
  PlannedAddress address;
  Use use = Use::kRead;

  bool operator==(const AddressPatch&) const = default;
};

// A tensor map; `desc` has no address.
struct MapPatch {
  std::size_t offset;  // a multiple of 64
  TensorMapDesc desc;
  PlannedAddress address;
  Use use = Use::kRead;

  bool operator==(const MapPatch&) const = default;
};

// alpha or beta, a double in the parameters.
enum class Scale : std::uint8_t { kAlpha, kBeta };
struct ScalePatch {
  std::size_t offset;
  Scale scale;

  bool operator==(const ScalePatch&) const = default;
};

// The kinds of steps: each is device code in kernels/passes, except for the product itself.
enum class Pass : std::uint8_t { kWiden, kPack, kRepack, kTerms, kMultiply, kReduce, kFinish };
std::string_view name_of(Pass pass);  // "multiply"

// One launch.
struct Step {
  Pass pass;
  Launch launch;  // its parameters hold zeros where patches go, and it has no tensor maps
  std::vector<AddressPatch> addresses = {};
  std::vector<MapPatch> maps = {};
  std::vector<ScalePatch> scales = {};
  const Kernel* kernel = nullptr;  // whose images hold the entry
};

// The product of a step: sizes and strides, and where its operands are.
struct Product {
  GemmParams params;  // canonical, without addresses
  PlannedAddress a, b, c, d;
};

// A step with this one parameter block.
template <class Params>
Step step_of(Pass pass, const std::string& entry, const LaunchShape& shape, const Params& params) {
  Step step{.pass = pass, .launch = {.entry = entry, .shape = shape, .params = {}}};
  step.launch.params.resize(sizeof params);
  std::memcpy(step.launch.params.data(), &params, sizeof params);
  return step;
}

// Patches for the addresses of GemmParams at `offset`, and for the scales that are not zero.
void patch_product(Step& step, std::size_t offset, const Product& product);

// The offsets of temps in the workspace, and the end of the last one. Each temp begins at a
// multiple of 256 bytes.
struct WorkspaceLayout {
  std::vector<std::int64_t> begins;
  std::int64_t bytes = 0;
};
WorkspaceLayout workspace_layout(std::span<const std::int64_t> temps);
// The end of the last one, where they begin after `begin`.
std::int64_t workspace_bytes(std::span<const std::int64_t> temps, std::int64_t begin = 0);
// Addresses of temps become distances from the beginning of the workspace.
void place_temps(const WorkspaceLayout& layout, std::span<Step> steps);

}  // namespace tessera::gemm
