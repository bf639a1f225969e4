// A kernel that is planned and prepared for one problem on a device, with a workspace of its own.
// It can be timed, counted and verified.
#pragma once

#include "device/buffer.h"
#include "gemm/call/pack.h"
#include "gemm/call/prepare.h"
#include "lab/data/operand_sets.h"
#include "lab/verify/stop.h"

namespace tessera::lab {

// Host time of one call in microseconds, as medians of a few calls.
struct HostTime {
  double plan = 0, prepare = 0;
  double execute = 0;  // all launches; 0 on the virtual GPU, where they are the run itself
  int launches = 0;
};

class PreparedCall {
 public:
  // Throws kUnsupported (before anything is loaded) if the kernel does not take the problem, and
  // kUnavailable if the device cannot load its code.
  PreparedCall(Device& device, const KernelChoice& choice, const Problem& problem,
               const gemm::Alignment& alignment, gemm::PlanOptions options = {});

  const gemm::Plan& plan() const { return prepared_.plan(); }
  const std::string& code() const { return prepared_.code(); }
  const LoadedImage& image() const { return prepared_.image(); }
  std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(workspace_.bytes()); }
  // Packs the operands that the plan's options name as packed. Must be called before run().
  void pack(Device& device, const Operands& operands);
  // Runs with the problem's alpha and beta. Asynchronous if the device is.
  void run(const Operands& operands, const Stop& stop = {}) const;

  // Plans and prepares again, to time these steps. If the device has a clock, also runs on the last
  // of these operand sets.
  HostTime host_time(Device& device, const OperandSets& sets) const;

 private:
  struct Packed {
    DeviceAddress matrix;
    DeviceBuffer memory;
  };
  gemm::Arguments arguments(const Operands& operands) const;
  gemm::PackedArgument packed(bool is_packed, DeviceAddress matrix) const;

  Problem problem_;
  gemm::PlanOptions options_;
  gemm::Prepared prepared_;
  DeviceBuffer workspace_;
  std::vector<Packed> packed_;
};

}  // namespace tessera::lab
