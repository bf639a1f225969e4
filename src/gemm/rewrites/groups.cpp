#include "gemm/rewrites/groups.h"

#include <algorithm>

#include "gemm/rewrites/in_parts.h"

namespace tessera::gemm {
namespace {

// The alignment of an address `bytes` after an address that has `alignment`.
int alignment_behind(int alignment, std::int64_t bytes) {
  const std::int64_t lowest_bit = bytes & -bytes;
  return bytes == 0 ? alignment : static_cast<int>(std::min<std::int64_t>(alignment, lowest_bit));
}

}  // namespace

std::vector<Subproblem> products_of_groups(const Subproblem& whole) {
  using enum OperandId;
  const Batch& batch = whole.problem.batch;
  const std::int64_t b_bytes = batch.stride_b * size_of(whole.problem.types.b);
  std::vector<Subproblem> products;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < batch.rows.size(); first += batch.rows[i++]) {
    if (batch.rows[i] == 0) continue;
    Subproblem one = rows_of(whole, first, batch.rows[i]);
    one.problem.batch = {};
    one[kB] = one[kB].moved(static_cast<std::int64_t>(i) * b_bytes);
    const auto behind = [&](OperandId id) {
      return alignment_behind(whole.alignment[id], one[id].delta - whole[id].delta);
    };
    one.alignment = {behind(kA), behind(kB), behind(kC), behind(kD)};
    products.push_back(one);
  }
  return products;
}

}  // namespace tessera::gemm
