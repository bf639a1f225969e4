#include "gemm/host/batch.h"

namespace tessera::gemm::host {

Problem product_of(Problem problem) {
  problem.batch = {};
  return problem;
}

Operands operands_at(const Problem& p, const Operands& at, std::int64_t i) {
  const Batch& batch = p.batch;
  if (batch.kind == BatchKind::kPointers) {
    const auto entry = [&](std::uint64_t list) {
      return list == 0 ? 0 : reinterpret_cast<const std::uint64_t*>(list)[i];
    };
    return {entry(at.a), entry(at.b), entry(at.c), entry(at.d), at.scale, at.bias};
  }
  const auto moved = [&](std::uint64_t base, std::int64_t stride, ElementType type) {
    return base == 0 ? 0 : base + static_cast<std::uint64_t>(i * stride * size_of(type));
  };
  return {moved(at.a, batch.stride_a, p.types.a),
          moved(at.b, batch.stride_b, p.types.b),
          moved(at.c, batch.stride_c, p.types.c),
          moved(at.d, batch.stride_d, p.types.d),
          at.scale,
          at.bias};
}

}  // namespace tessera::gemm::host
