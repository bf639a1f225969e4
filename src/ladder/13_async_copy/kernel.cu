// Rung 13: tiles go straight from global to shared memory, three stages ahead of the multiplies.
//
// Rung 12 was limited by issue slots and exposed latency: fetched words were held in registers,
// which had room for one tile of 8 k steps only. cp.async needs no registers, and no thread waits
// for it. So the registers hold 16x8 outputs per thread instead, and shared memory holds four tiles
// of 16 k steps.
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
