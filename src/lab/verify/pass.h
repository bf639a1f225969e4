// One set of inputs of a verification, with the expected result. Derived classes are for one
// product and for a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "lab/verify/verify.h"

namespace tessera::lab {

inline constexpr std::size_t kGuardBytes = 4096;  // bytes before and after each operand
inline constexpr std::uint64_t kStreamOfC = 2;    // streams of seeds
inline constexpr std::uint64_t kStreamOfScale = 1000, kStreamOfBias = 1001;

// One matrix on the device, with or without the guards of its host copy.
class Uploaded {
 public:
  Uploaded(Device& device, const HostMatrix& host, bool guarded);
  DeviceAddress address() const { return buffer_.address() + element_; }
  HostMatrix downloaded(const HostMatrix& like) const;

 private:
  Device& device_;
  std::size_t skip_, element_;
  DeviceBuffer buffer_;
};

// The result of one pass on one device.
struct Outcome {
  Comparison comparison;
  std::string reason;
  const KernelRow* row = nullptr;
  LoadedImage image;
  std::int64_t workspace_bytes = 0;
  std::string d_hash;
  std::vector<std::string> entries;
  std::vector<LaunchCounts> counts;
  std::vector<vgpu::Finding> findings;
};

class Pass {
 public:
  virtual ~Pass() = default;

  // Whether every row of D is checked as a whole, because D is too large to recompute each entry.
  virtual bool by_rows() const { return false; }
  virtual const Reference& reference() const = 0;
  // Runs the kernel and overwrites the last pass's outcome in `result`. A fault is a failure.
  void run(Device& device, const gemm::PlanOptions& how, VerifyResult& result) const;

 protected:
  Pass(const Problem& p, const VerifyOptions& o, bool is_exact);
  // Runs the kernel and checks everything that it could have written.
  virtual Outcome run_and_look(Device& device, const gemm::PlanOptions& how) const = 0;
  // Runs the kernel on these operands, and fills in the facts that the run itself provides.
  void launch(Device& device, const gemm::PlanOptions& how, const Operands& operands,
              const gemm::Alignment& alignment, Outcome& outcome) const;

  // Returns the hash of all bytes of D, including those around its elements; "" if it is not
  // requested.
  std::string hash_if_wanted(const HostMatrix& d) const;
  FillSpec fill_of(std::uint64_t stream, std::uint64_t product) const;
  EpilogueVectors vectors() const { return {&scale_, &bias_}; }
  // Returns a problem whose D is the auxiliary output of the given problem.
  static Problem problem_of_x(Problem problem);
  ReferenceOptions reference_options() const;

  Problem problem;
  VerifyOptions options;
  bool exact;            // integers: equality, else the error bound
  Bound bound, bound_x;  // bounds for the real data; integers must be exact

  // The vectors of the epilogue on the device.
  class VectorsOnDevice {
   public:
    VectorsOnDevice(const Pass& pass, Device& device, bool guarded)
        : pass_(pass), scale_(device, pass.scale_, guarded), bias_(device, pass.bias_, guarded) {}
    void add_to(Operands& operands) const;
    // Returns which vector was changed by the run; "" if none was.
    std::string find_change() const;

   private:
    const Pass& pass_;
    Uploaded scale_, bias_;
  };

 private:
  HostMatrix vector_of(VectorKind kind, ElementType type, std::uint64_t stream) const;

  HostMatrix scale_, bias_;  // vectors of the epilogue; empty if it has none
};

// Make the pass of a problem without a batch, and the pass of a problem with a batch.
std::unique_ptr<Pass> make_single_pass(const Problem& p, const VerifyOptions& o, bool is_exact);
std::unique_ptr<Pass> make_batch_pass(const Problem& p, const VerifyOptions& o, bool is_exact);

}  // namespace tessera::lab
