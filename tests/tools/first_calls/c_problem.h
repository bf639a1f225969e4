// A problem and its operands as a caller of the C interface writes them.
#pragma once

#include "problem/operands.h"
#include "problem/problem.h"
#include "tessera/gemm.h"

namespace tessera {

inline std::int32_t c_type(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return TESSERA_F64;
    case ElementType::kF32:
      return TESSERA_F32;
    case ElementType::kF16:
      return TESSERA_F16;
    case ElementType::kBf16:
      return TESSERA_BF16;
    default:
      refuse_type("c_type", type);
  }
}

// The C problem of p, whose products are summed as usual or in TF32.
inline tessera_problem c_problem(const Problem& p) {
  tessera_problem to{};
  to.size = sizeof to;
  to.m = p.m, to.n = p.n, to.k = p.k;
  to.type_a = c_type(p.types.a), to.type_b = c_type(p.types.b);
  to.type_c = c_type(p.types.c), to.type_d = c_type(p.types.d);
  if (p.types.compute == ComputeType::kTf32) to.compute = TESSERA_COMPUTE_TF32;
  to.order = static_cast<std::int32_t>(p.order);
  to.op_a = static_cast<std::int32_t>(p.op_a), to.op_b = static_cast<std::int32_t>(p.op_b);
  to.lda = p.lda, to.ldb = p.ldb, to.ldc = p.ldc, to.ldd = p.ldd;
  to.batch = static_cast<std::int32_t>(p.batch.kind);
  if (p.batch.kind != BatchKind::kNone) to.batch_count = p.batch.count;
  to.batch_alignment = static_cast<std::int32_t>(p.batch.alignment);
  to.stride_a = p.batch.stride_a, to.stride_b = p.batch.stride_b;
  to.stride_c = p.batch.stride_c, to.stride_d = p.batch.stride_d;
  to.bias = static_cast<std::int32_t>(p.epilogue.bias);
  to.scale = static_cast<std::int32_t>(p.epilogue.scale);
  to.activation = static_cast<std::int32_t>(p.epilogue.activation);
  return to;
}

inline tessera_arguments c_arguments(const Problem& p, const Operands& at, void* stream) {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  tessera_arguments in{};
  in.size = sizeof in;
  in.alpha = p.alpha, in.beta = p.beta;
  in.a = pointer(at.a), in.b = pointer(at.b), in.c = pointer(at.c), in.d = pointer(at.d);
  in.bias = pointer(at.bias), in.scale = pointer(at.scale);
  in.stream = stream;
  return in;
}

}  // namespace tessera
