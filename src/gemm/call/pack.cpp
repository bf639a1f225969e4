#include "gemm/call/pack.h"

#include "gemm/call/prepare.h"

namespace tessera::gemm {

Packing packing_of(const Problem& given, OperandId operand, const DeviceLimits& limits) {
  const Problem problem = planned_problem(given);
  require(check(problem));
  if (problem.batch.kind != BatchKind::kNone) {
    throw StatusError(Status::bad_argument("batch is " + describe(problem.batch) +
                                           ", but an operand is packed for problems of one "
                                           "product; batches that share it may read it, too"));
  }
  const Request request = request_of(subproblem_of(problem, {}), limits, {});
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.types != problem.types || is_rung(kernel)) continue;
    if (limits.sm < kernel.first_sm || limits.sm > kernel.last_sm) continue;
    if (auto packing = family_of(kernel).packing(kernel, request, slot_of(operand))) {
      return std::move(*packing);
    }
  }
  throw StatusError(
      Status::unsupported(std::string("operand is ") + (operand == OperandId::kA ? "A" : "B") +
                          " of " + name_of(problem.types) +
                          ", but kernels of these types on an sm_" + std::to_string(limits.sm) +
                          " read operands as they are; f16x3 on an sm_90 reads packed ones"));
}

void pack(Modules& modules, const Stream& stream, const Packing& packing, OperandId operand,
          DeviceAddress matrix, DeviceAddress packed, void* on) {
  if (!packing.step) return;
  Arguments arguments;
  arguments.operands[operand] = matrix;
  (operand == OperandId::kA ? arguments.packed_a : arguments.packed_b) = {packed, packing.bytes};
  PreparedStep(modules, *packing.step).launch(modules, stream, *packing.step, arguments, on);
}

}  // namespace tessera::gemm
