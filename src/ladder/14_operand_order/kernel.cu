// Rung 14: each FFMA shares an operand with the one before it.
//
// Rung 13 was limited by register ports. An FFMA has three operands, and two banks each deliver one
// register per cycle. An operand that equals the previous FFMA's in the same position is reused,
// not read. In blocks of 2 x 2, neighbours differ in A or in B, never in both. The rest is rung 13.
#include "ladder/14_operand_order/config.h"
#include "ladder/shared/async_loop.h"

namespace tessera::operand_order {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg) && cfg.thread.n % 2 == 0 && cfg.thread.m % 2 == 0);
  extern __shared__ unsigned char memory[];
  const auto multiply_add = [](auto& sum, const auto& a, const auto& b) {
#pragma unroll
    for (int t = 0; t < cfg.thread.m * cfg.thread.n; ++t) {
      const OutputTile at = output_at(cfg.order, cfg.thread, t);
      sum[at.m][at.n] += a[at.m] * b[at.n];
    }
  };
  ladder::multiply_block<cfg>(p, reinterpret_cast<ladder::AsyncStage<cfg>*>(memory), multiply_add);
}

}  // namespace tessera::operand_order
