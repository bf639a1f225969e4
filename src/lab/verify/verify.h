// Verifies a kernel on a problem. Exact integers come first, then real data under the componentwise
// bound. Everything around D, and all of A, B and C, must be unchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "device/device.h"
#include "device/virtual/observer.h"
#include "gemm/options.h"
#include "lab/data/fill.h"
#include "lab/verify/compare.h"
#include "lab/verify/misalign.h"
#include "lab/verify/reference.h"

namespace tessera::arch {
struct Gpu;
}

namespace tessera::lab {

struct VerifyOptions {
  std::uint64_t seed = 1;
  Fill fill = Fill::kUniform;  // fill of the real data
  int nans = 0;                // NaNs placed in each of A and B, one in C (real data)
  bool in_place = false;       // D is C; needs ldc == ldd
  Misalign misalign;           // elements by which A, B, C and D miss a 256-byte boundary
  bool integers = true;        // the exact pass before the real one
  bool hashes = false;         // D of the real pass, to be compared with that of other code
  bool checks = false;         // on the virtual GPU: races, uninitialised reads, ... are failures
  gemm::PlanOptions plan;      // the kernel is the one that is verified
  ReferenceOptions reference;
  const arch::Gpu* predict_for = nullptr;  // GPU whose time a run on the virtual GPU predicts
  std::function<bool()> stop = {};  // asked before each launch; true ends check() with Stopped
};

// Whether all entries were checked or a sample, as in a record: "full", "sampled" or "failed".
enum class Verified { kFull, kSampled, kFailed };
std::string_view name_of(Verified verified);

struct VerifyResult {
  Verified verified = Verified::kFailed;
  double max_error_ratio = 0;           // with the real data; infinity for an exact mismatch
  std::string reason;                   // why the verification failed, one sentence
  std::optional<Mismatch> mismatch;     // the first wrong entry, where there is one
  std::string integers;                 // "full", "every row, modulo 2^64", "none"
  std::string reference;                // what the real data was compared with
  const KernelRow* row = nullptr;       // row of the launch that multiplies
  std::string config;                   // variant
  LoadedImage image;                    // code that ran
  std::string plan;                     // the plan's name
  std::int64_t workspace_bytes = 0;     // workspace of the plan's launches
  std::string d_hash;                   // hash of D's bytes after the real pass, if asked for
  std::vector<std::string> entries;     // names of launched entries, each once
  std::vector<LaunchCounts> counts;     // counts of the real pass; empty on a real GPU
  double host_seconds = 0;              // time of the real pass on the virtual GPU
  std::vector<vgpu::Finding> findings;  // findings of the checks in the pass that failed first
  bool ok() const { return verified != Verified::kFailed; }
};

class Pass;

// Data and references of one problem, made once and used for many kernels and devices.
class VerifyCase {
 public:
  // Throws kBadArgument if the problem is illegal, and kUnavailable if the host's memory is too
  // small.
  VerifyCase(const Problem& problem, const VerifyOptions& options = {});
  ~VerifyCase();

  // A fault of the kernel on the virtual GPU is a failed verification. Throws if the kernel does
  // not support the problem, or if the device cannot run it.
  VerifyResult check(Device& device, const KernelChoice& choice) const;
  // Like the function above, with other plan options than those of the case.
  VerifyResult check(Device& device, const KernelChoice& choice, gemm::PlanOptions plan) const;

  const Problem& problem() const { return problem_; }
  const VerifyOptions& options() const { return options_; }

 private:
  Problem problem_;
  VerifyOptions options_;
  std::unique_ptr<Pass> integers_, real_;
};

VerifyResult verify(Device& device, const KernelChoice& choice, const Problem& problem,
                    const VerifyOptions& options = {});

}  // namespace tessera::lab
