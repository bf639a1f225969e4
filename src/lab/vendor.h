// The vendor's library as the baseline: loaded at run time, so that one binary runs with and
// without it. "vendor" is the better of cuBLAS' default and the fastest cuBLASLt candidate for the
// shape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "problem/problem.h"

namespace tessera::lab {

struct VendorOptions {
  std::string library;  // a path to libcublas or to its folder; empty: the usual names and places
  int candidates = 12;  // requested from cuBLASLt's heuristic
  std::size_t workspace_bytes = std::size_t{64} << 20;
};

// One way of the vendor's library to compute the problem. call enqueues it on the default stream.
struct VendorCall {
  std::string name;  // "cuBLAS default", "cuBLASLt candidate 3"
  std::function<void(const Operands&)> call;
};

class Vendor {
 public:
  // Throws kUnavailable with one sentence: no library, or a device that is not a CUDA device.
  static std::unique_ptr<Vendor> load(Device& device, const VendorOptions& options = {});
  virtual ~Vendor() = default;

  virtual std::string version() const = 0;  // "cuBLAS 13.1.0.3"
  // cuBLAS first, then the cuBLASLt candidates that take this problem. C is copied to D first where
  // D is not C, since cuBLAS computes in place.
  virtual std::vector<VendorCall> calls(const Problem& problem) = 0;
};

}  // namespace tessera::lab
