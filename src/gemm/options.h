// The options of a plan, and the facts about operands and GPU that plans depend on. Addresses are
// not among them: a plan serves all operands of at least the alignment that it was made for.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "catalog/catalog.h"
#include "device/device.h"
#include "gemm/cost/cost_table.h"
#include "problem/operands.h"

namespace tessera::gemm {

struct Overlay;

enum class Policy {
  kModel,   // done if the cost model expects a gain
  kNever,   // never done, to measure the gain
  kAlways,  // always done, for tests
};

inline constexpr std::int64_t kAnyWorkspace = std::numeric_limits<std::int64_t>::max();

// Which of A and B the caller has packed (gemm/call/pack.h).
struct PackedOperands {
  bool a = false, b = false;

  bool any() const { return a || b; }
  PackedOperands operator|(const PackedOperands& other) const {
    return {a || other.a, b || other.b};
  }
  std::string text() const { return std::string(a ? "a" : "") + (b ? "b" : ""); }  // "ab"
  bool operator==(const PackedOperands&) const = default;
};

struct PlanOptions {
  std::int64_t workspace_limit = kAnyWorkspace;  // bytes
  std::optional<KernelChoice> kernel = {};       // empty: the kernel that is expected to be fastest
  Policy split = Policy::kModel;                 // splits tiles of the last wave along k
  Policy repack = Policy::kModel;                // repacks operands that tensor copies do not take
  // Multiplies the rows and columns of D beyond whole tiles by separate launches with smaller
  // tiles. kAlways: whenever there are such rows or columns.
  Policy remainder = Policy::kModel;
  // Plans a batch as one product where that is possible (gemm/rewrites/fold.h), except with kNever.
  Policy fold = Policy::kModel;
  bool deterministic = true;  // every run gives the same bits, as all kernels do today
  PackedOperands packed = {};
};
bool operator==(const PlanOptions& x, const PlanOptions& y);

// The properties of a GPU that plans depend on.
struct DeviceLimits {
  int sm = 90;  // compute capability: 90 is 9.0
  int sms = 1;  // SMs
  std::int64_t l2_bytes = 0;
  const CostTable* costs = &kH200Costs;
  const Overlay* overlay = nullptr;  // plans that the user measured (gemm/overlay/); null: none

  bool operator==(const DeviceLimits&) const = default;
};
// The limits without an overlay. tuned_limits_of() in gemm/overlay/overlay_file.h adds one.
DeviceLimits limits_of(const DeviceInfo& info);

// HW: copies and stores of kernels are at most 16 bytes wide, and need no larger alignment.
inline constexpr int kMostAlignment = 16;
// The alignment of a workspace, in bytes. Devices allocate with at least this alignment.
inline constexpr int kWorkspaceAlignment = 256;
constexpr std::int64_t with_workspace_alignment(std::int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

// For each operand a power of two, in bytes, that divides the address; at most kMostAlignment.
struct Alignment {
  int a = kMostAlignment, b = kMostAlignment, c = kMostAlignment, d = kMostAlignment;

  // The alignment in bytes; 1 for vectors of the epilogue, which kernels read by elements.
  int operator[](OperandId id) const {
    const int of_matrix[] = {a, b, c, d};
    const auto i = static_cast<std::size_t>(id);
    return i < std::size(of_matrix) ? of_matrix[i] : 1;
  }

  bool operator==(const Alignment&) const = default;
};

// The largest alignment of each address, up to kMostAlignment, which is also that of address 0.
Alignment alignment_of(const Operands& operands);

}  // namespace tessera::gemm
