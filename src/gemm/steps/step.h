// The steps of a plan: launches that name slots and temps instead of addresses. Each address in a
// kernel's parameters is a patch (a slot or a temp, plus a distance in bytes), which is applied
// when the plan is executed. So one plan serves any number of operands.
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

// The kernel parameters of a problem in canonical form (D is row-major), with addresses.
GemmParams canonical_params(const Problem& problem, const Operands& operands);
// The kernel parameters of a problem in its own order, without addresses. If the problem is in
// column-major order, the kernel must store D transposed.
GemmParams params_of(const Problem& problem);

// What an address refers to: an operand of the caller, numbered like OperandId; the workspace; or A
// or B in the form that a family reads (gemm/call/pack.h).
enum class Slot : std::uint8_t { kA, kB, kC, kD, kWorkspace = kOperands, kPackedA, kPackedB };
constexpr OperandId operand_of(Slot slot) { return static_cast<OperandId>(slot); }
constexpr Slot slot_of(OperandId id) { return static_cast<Slot>(id); }
constexpr Slot packed_slot_of(Slot operand) {
  return operand == Slot::kA ? Slot::kPackedA : Slot::kPackedB;
}

// An address before a call: a distance from a slot or, in the workspace, from a temp.
struct PlannedAddress {
  Slot slot = Slot::kA;
  std::int64_t delta = 0;  // bytes
  int temp = 0;            // number of the piece of the workspace

  PlannedAddress moved(std::int64_t bytes) const { return {slot, delta + bytes, temp}; }
  bool operator==(const PlannedAddress&) const = default;
};
constexpr PlannedAddress address_of_temp(int temp) { return {Slot::kWorkspace, 0, temp}; }

struct AddressPatch {
  std::size_t offset;  // in bytes, in the parameters
  PlannedAddress address;
  Use use = Use::kRead;

  bool operator==(const AddressPatch&) const = default;
};

// A tensor map in the parameters. `desc` has no address; the patch supplies it.
struct MapPatch {
  std::size_t offset;  // in bytes, a multiple of 64
  TensorMapDesc desc;
  PlannedAddress address;
  Use use = Use::kRead;

  bool operator==(const MapPatch&) const = default;
};

// alpha or beta, and the byte offset of this double in the parameters.
enum class Scale : std::uint8_t { kAlpha, kBeta };
struct ScalePatch {
  std::size_t offset;
  Scale scale;

  bool operator==(const ScalePatch&) const = default;
};

// The kinds of steps. Each but kMultiply is device code in kernels/passes.
enum class Pass : std::uint8_t {
  kWiden,
  kPack,
  kRepack,
  kTerms,
  kMaps,
  kMultiply,
  kReduce,
  kFinish,
};
std::string_view name_of(Pass pass);  // "multiply"

// One launch.
struct Step {
  Pass pass;
  Launch launch;  // has zeros in its parameters where patches go, and no tensor maps
  std::vector<AddressPatch> addresses = {};
  std::vector<MapPatch> maps = {};
  std::vector<ScalePatch> scales = {};
  const Kernel* kernel = nullptr;  // the kernel whose images hold the entry
};

// The product of a step: sizes and strides, and the planned addresses of the operands.
struct Product {
  GemmParams params;  // canonical, without addresses
  PlannedAddress a, b, c, d;
};

// A step whose parameters are the one block `params`.
template <class Params>
Step step_of(Pass pass, const std::string& entry, const LaunchShape& shape, const Params& params) {
  Step step{.pass = pass, .launch = {.entry = entry, .shape = shape, .params = {}}};
  step.launch.params.resize(sizeof params);
  std::memcpy(step.launch.params.data(), &params, sizeof params);
  return step;
}

// Adds patches for the addresses of a GemmParams at byte `offset`, and for alpha and beta if not 0.
void patch_product(Step& step, std::size_t offset, const Product& product);

// The byte offset of each temp in the workspace, and the end of the last temp. Each temp begins
// at a multiple of 256 bytes.
struct WorkspaceLayout {
  std::vector<std::int64_t> begins;
  std::int64_t bytes = 0;
};
WorkspaceLayout workspace_layout(std::span<const std::int64_t> temps);
// The end of the last temp, in bytes, if the first temp begins at `begin` or after it.
std::int64_t workspace_bytes(std::span<const std::int64_t> temps, std::int64_t begin = 0);
// Changes addresses relative to temps into addresses relative to the workspace.
void place_temps(const WorkspaceLayout& layout, std::span<Step> steps);

}  // namespace tessera::gemm
