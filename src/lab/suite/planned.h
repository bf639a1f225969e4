// The library's own plan for a problem within a workspace limit, ready to run.
#pragma once

#include "device/buffer.h"
#include "gemm/call/prepare.h"

namespace tessera::lab {

class PlannedCall {
 public:
  // Throws the errors of gemm::plan and gemm::prepare.
  PlannedCall(Device& device, const Problem& problem, const Operands& operands,
              const gemm::PlanOptions& options);
  PlannedCall(Device& device, const Problem& problem, gemm::Plan plan);
  void run(const Operands& operands) const;
  const gemm::Plan& plan() const { return prepared_.plan(); }

 private:
  double alpha_, beta_;
  gemm::Prepared prepared_;
  DeviceBuffer workspace_;
};

// "wgmma_bf16/128x256".
std::string name_of(const gemm::Candidate& offer);

}  // namespace tessera::lab
