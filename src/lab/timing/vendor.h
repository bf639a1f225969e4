// The vendor's library as the baseline. It is loaded at run time, so that one binary runs with and
// without it. "vendor" is the better of cuBLAS' default and the fastest cuBLASLt candidate for the
// shape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "problem/operands.h"

namespace tessera::lab {

// The workspace of the vendor's library, and the limit of our own workspace in comparisons on equal
// terms.
inline constexpr std::int64_t kVendorWorkspace = std::int64_t{64} << 20;

struct VendorOptions {
  std::string library;  // a path to libcublas or to its folder; empty: the usual names and places
  int candidates = 12;  // requested from cuBLASLt's heuristic
  std::size_t workspace_bytes = kVendorWorkspace;
};

// One way in which the vendor's library computes the problem. `call` enqueues it on the device's
// stream.
struct VendorCall {
  std::string name;       // "cuBLAS default", "cuBLASLt candidate 3"
  bool in_place = false;  // reads D where the problem reads C: the same work, not the same result
  bool is_default = false;
  std::function<void(const Operands&)> call;
};

class Vendor {
 public:
  // Throws kUnavailable with one sentence if there is no library, or if the device is not a CUDA
  // device. The device must outlive the vendor.
  static std::unique_ptr<Vendor> load(Device& device, const VendorOptions& options = {});
  virtual ~Vendor() = default;

  virtual std::string version() const = 0;  // "cuBLAS 13.1.0"
  virtual std::int64_t workspace_bytes() const = 0;
  // Returns cuBLAS' default first, which has no epilogues, then the cuBLASLt candidates that take
  // this problem, best guess first. Returns nothing for an epilogue that the library does not have:
  // a scale, GELU by erf, or a bias along the lines of D that are adjacent in memory. Expects
  // operands at multiples of 256 bytes. FP32 stays FP32: no TF32, no emulation. Throws kUnsupported
  // for types, or scales, that the library does not have.
  virtual std::vector<VendorCall> calls(const Problem& problem) = 0;
};

// Returns possible paths of the library: the path that the user gave, else the loader's names,
// CUDA's folders and the Python packages that contain it.
std::vector<std::string> vendor_library_paths(const std::string& given);

}  // namespace tessera::lab
