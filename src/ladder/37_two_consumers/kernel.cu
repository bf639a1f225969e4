// Rung 37: two warpgroups multiply, each 64 rows of a tile of 128 x 256.
//
// In rung 36 an instruction of 64 x 128 x 16 reads 6 KiB of shared memory in the 64 cycles that it
// takes, and a CTA loads 32 KiB for 128 x 128 x 64 products. Here an instruction reads 10 KiB in
// 128 cycles, and a CTA loads 48 KiB for twice the products: each tile of B serves both warpgroups.
// The 64 x 256 sums of a warpgroup take 128 registers per thread, as before.
#include "kernels/ptx/wgmma_n256.h"
#include "ladder/37_two_consumers/config.h"
#include "ladder/shared/common.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::two_consumers {

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  if (p.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  static_assert(sizeof(typename W::Ring) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename W::Ring*>(memory);
  const ladder::BlockOrigin origin = ladder::block_origin(p.gemm, cfg.block.m, cfg.block.n);
  const tile::Coord<> corner{static_cast<int>(origin.row), static_cast<int>(origin.col)};
  const auto load = [&] {
    typename W::Position at;
    ladder::load_tiles<cfg>(ring, at, p, corner);
  };
  const auto multiply = [&](int consumer) {
    const int row = consumer * cfg.rows();
    typename W::Sums sums;
    typename W::Position at;
    ladder::multiply_tiles<cfg>(sums, ring, at, p, row);
    ladder::store_sums<cfg.block.n>(sums, p.gemm, corner.m, corner.n, row);
  };
  ladder::part_warpgroups<cfg>(ring, load, multiply);
}

}  // namespace tessera::two_consumers
