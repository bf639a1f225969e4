// What a caller may ask of a plan, and what a plan must know of operands and machine. Addresses are
// no part of it: a plan holds for all operands of at least the alignment that it was made for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "catalog/catalog.h"
#include "device/device.h"
#include "problem/problem.h"

namespace tessera::gemm {

enum class Policy {
  kModel,   // where a model of the time expects it to pay
  kNever,   // to measure what it brings
  kAlways,  // to test it
};

inline constexpr std::int64_t kAnyWorkspace = std::numeric_limits<std::int64_t>::max();

struct PlanOptions {
  std::int64_t workspace_limit = kAnyWorkspace;  // bytes
  std::optional<KernelChoice> kernel = {};       // empty: the one that is expected to be fastest
  Policy split = Policy::kModel;                 // tiles of the last wave, along k
  Policy repack = Policy::kModel;                // operands that tensor copies do not take
  // Rows and columns beyond whole tiles, by launches of smaller tiles; kAlways: wherever there are
  // some.
  Policy remainder = Policy::kModel;
  bool deterministic = true;  // the same bits in every run; all kernels of today are
};
bool operator==(const PlanOptions& x, const PlanOptions& y);

// The GPU that a plan is for.
struct DeviceLimits {
  int sm = 90;  // compute capability
  int sms = 1;  // SMs
  std::int64_t l2_bytes = 0;

  bool operator==(const DeviceLimits&) const = default;
};
DeviceLimits limits_of(const DeviceInfo& info);

// HW: no copy and no store of a kernel is wider than 16 bytes, nor wants a better address.
inline constexpr int kMostAlignment = 16;
// Of a workspace, in bytes. What devices allocate is aligned at least so.
inline constexpr int kWorkspaceAlignment = 256;

// Powers of two, in bytes, that divide the addresses of the operands; at most kMostAlignment.
struct Alignment {
  int a = kMostAlignment, b = kMostAlignment, c = kMostAlignment, d = kMostAlignment;

  bool operator==(const Alignment&) const = default;
};

// The best alignment that these addresses have. An address of 0 has them all: nothing is read.
Alignment alignment_of(const Operands& operands);

}  // namespace tessera::gemm
