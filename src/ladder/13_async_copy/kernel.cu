// Rung 13: tiles go straight from global to shared memory, three stages ahead of the multiplies.
//
// Rung 12 was limited by issue slots and exposed latency: words on their way stood in registers, so
// that there was room for one tile of 8 steps only. cp.async passes no register and no thread waits
// for it: the registers hold 16x8 outputs a thread instead, and shared memory holds four tiles of
// 16 steps.
#include "ladder/13_async_copy/config.h"
#include "ladder/shared/async_loop.h"

namespace tessera::async_copy {

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  extern __shared__ unsigned char memory[];
  const auto multiply_add = [](auto& sum, const auto& a, const auto& b) {
    ladder::multiply_add(sum, a, b);
  };
  ladder::multiply_block<cfg>(p, reinterpret_cast<ladder::AsyncStage<cfg>*>(memory), multiply_add);
}

}  // namespace tessera::async_copy
