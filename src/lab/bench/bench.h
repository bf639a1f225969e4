// Kernels and the vendor's library on one problem: verified, then timed in turn. On the virtual GPU
// there is no time to measure; the record holds counts and the host's seconds instead.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/record/record.h"
#include "lab/timing/measure.h"
#include "lab/timing/vendor.h"
#include "lab/verify/verify.h"

namespace tessera::lab {

// A kernel and how it is to be timed. Several candidates may use one kernel.
struct BenchCandidate {
  KernelChoice choice;
  std::int64_t workspace_limit = gemm::kAnyWorkspace;  // replaces the limit in verify.plan
  bool other_build = false;                            // the image is another build's
  // Index of another candidate. This candidate's figures also appear in that candidate's record.
  std::optional<std::size_t> companion_of = {};
  std::string unavailable = {};                // why the candidate cannot run; empty: it can run
  std::string rewriting = {};                  // change of the machine code; empty: none
  std::optional<RewrittenLoop> by_model = {};  // expected gain of the change
};

struct BenchOptions {
  VerifyOptions verify;
  bool check_results = true;
  std::vector<Mode> modes = {Mode::kBurst, Mode::kSustained};
  MeasureOptions measure;
  Vendor* vendor = nullptr;    // null: no baseline
  Device* fallback = nullptr;  // runs kernels whose image the device cannot load; may be null
  bool keep_samples = true;
  bool energy = false;  // joules per call of kernels and of the vendor, after sustained runs
  std::function<void(const std::string&)> progress;  // a few words for a progress line
  void say(const std::string& words) const {
    if (progress) progress(words);
  }
  std::function<bool()> stop;  // asked between kernels and groups; true keeps what there is
  std::function<void(const Record&)> on_record;  // gets each record as soon as it is complete
};

// Returns one record per candidate and mode (one per candidate on the virtual GPU), in the order in
// which the records were completed. For a kernel that does not support the problem, the record has
// a reason and no figures. Throws if the problem is illegal or there is too little memory.
std::vector<Record> bench(Device& device, const std::vector<BenchCandidate>& candidates,
                          const Problem& problem, const BenchOptions& options = {});

// The virtual GPU runs PTX, so it cannot verify a patched cubin. For a patched kernel, returns the
// text that names the unpatched kernel's number: "as 15 (PTX); cubin proved equal". Else "".
std::string verified_by_proof(const Kernel& kernel);

// Only verifies, without timing, and returns a record.
Record verify_record(Device& device, const KernelChoice& kernel, const VerifyCase& data);
Record verify_record(Device& device, const BenchCandidate& candidate, const VerifyCase& data);

}  // namespace tessera::lab
