#include "gemm/steps/subproblem.h"

#include <algorithm>
#include <utility>

namespace tessera::gemm {
namespace {

// The alignment in bytes that this operand has in every product of a batch.
int alignment_in_batch(const Batch& batch, const Operand& operand, int of_first) {
  if (batch.kind == BatchKind::kPointers) {
    return static_cast<int>(std::min<std::int64_t>(batch.alignment, kMostAlignment));
  }
  if (operand.product_stride == 0 || batch.count < 2) return of_first;
  // WHY count elements: the stride of empty matrices may be more bytes than 63 bits hold.
  const auto elements = static_cast<std::uint64_t>(operand.product_stride);
  const auto divides = std::min<std::uint64_t>(elements & (0 - elements), kMostAlignment);
  return std::min(of_first, static_cast<int>(divides) * size_of(operand.type));
}

}  // namespace

Alignment alignment_in_batch(const Subproblem& whole) {
  const Problem& p = whole.problem;
  if (p.batch.kind == BatchKind::kNone) return whole.alignment;
  const OperandTable table(p);
  const auto of = [&](OperandId id) {
    return alignment_in_batch(p.batch, table[id], whole.alignment[id]);
  };
  using enum OperandId;
  return {of(kA), of(kB), of(kC), of(kD)};
}

Subproblem subproblem_of(const Problem& problem, const Alignment& alignment) {
  Subproblem product{problem, alignment, {}};
  for (std::size_t i = 0; i < kOperands; ++i) product.at[i].slot = static_cast<Slot>(i);
  return product;
}

Subproblem exchanged(const Subproblem& product) {
  using enum OperandId;
  Subproblem other = product;
  other.problem = tessera::exchanged(product.problem);
  std::swap(other.alignment.a, other.alignment.b);
  std::swap(other[kA], other[kB]);
  return other;
}

Subproblem row_major(const Subproblem& product) {
  return product.problem.order == Order::kRowMajor ? product : exchanged(product);
}

schedule::Batch batch_params(const Problem& problem, std::int64_t tiles_m) {
  const Batch& batch = problem.batch;
  schedule::Batch out = schedule::no_batch(static_cast<int>(tiles_m));
  if (batch.kind == BatchKind::kNone) return out;
  out.count = static_cast<int>(batch.count);
  out.pointers = batch.kind == BatchKind::kPointers ? 1 : 0;
  if (out.pointers) return out;
  const Types& types = problem.types;
  // WHY unsigned: the stride of matrices that are not read may be any
  // number, and may overflow here.
  const auto bytes = [](std::int64_t stride, ElementType type) {
    const auto size = static_cast<std::uint64_t>(size_of(type));
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * size);
  };
  out.a = bytes(batch.stride_a, types.a);
  out.b = bytes(batch.stride_b, types.b);
  out.c = bytes(batch.stride_c, types.c);
  out.d = bytes(batch.stride_d, types.d);
  return out;
}

}  // namespace tessera::gemm
