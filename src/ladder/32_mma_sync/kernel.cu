// Rung 32: mma.sync and ldmatrix instead of WMMA. cp.async loads tiles while others are multiplied,
// and ldmatrix loads fragments of 8x8 elements from swizzled rows, without bank conflicts.
//
// Rung 31 was limited by instructions that copy single elements, and nothing overlapped its copies.
// Here a warp keeps 64 x 32 sums: for 16 steps in k it issues 4 + 2 ldmatrix and 16 mma.sync of
// 16x8x16. Three stages of 64 k form a ring: two are being loaded while one is multiplied.
//
//   tile/either_tile.h          a tile in shared memory, for either contiguous index of the operand
//   tile/mma_lanes.h            the row addresses that each lane passes to ldmatrix
//   copy/either_tile_copy.h     cp.async of 16 bytes, or less where base or stride are odd
#include "kernels/copy/either_tile_copy.h"
#include "kernels/epilogue/store_pairs.h"
#include "kernels/pipeline/cp_async_ring.h"
#include "kernels/tile/lanes.h"
#include "kernels/tile/mma_accumulators.h"
#include "ladder/32_mma_sync/config.h"
#include "ladder/shared/common.h"

namespace tessera::mma_sync {

using tile::MmaOperand::kA, tile::MmaOperand::kB;

using Element = std::uint16_t;    // the bits of a BF16
inline constexpr int kStep = 16;  // k of an instruction

template <Config cfg>
struct Stage {
  using A = tile::EitherTile<Element, cfg.block.m, cfg.block.k>;  // (m, k)
  using B = tile::EitherTile<Element, cfg.block.n, cfg.block.k>;  // (n, k)
  static constexpr int kDepth = cfg.block.k;

  A a;
  B b;
};

template <Config cfg>
struct Warp {
  bool a_along_k, b_along_k;
  int at_a, at_b;  // offsets of this lane's loads in a stage
  tile::MmaAccumulators<ptx::MatrixType::kBF16, cfg.warp().m, cfg.warp().n> sums;

  // Multiplies one stage while two others are being loaded.
  template <class Ring>
  __device__ void multiply_stage(Ring& ring) {
    ring.template start_next<false>(0, 1);
#pragma unroll
    for (int step = 0; step < cfg.block.k / kStep; ++step) {
      tile::MmaFragments<typename Stage<cfg>::A, cfg.warp().m / tile::kMmaOuter, kA> a;
      tile::MmaFragments<typename Stage<cfg>::B, cfg.warp().n / tile::kMmaOuter, kB> b;
      a.load(ring.current().a, a_along_k, at_a, step);
      b.load(ring.current().b, b_along_k, at_b, step);
      sums.multiply_add(a, b);
    }
    ring.finish_next();
  }
};

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  extern __shared__ __align__(128) unsigned char memory[];
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const tile::Coord<> at = tile::warp_coord(cfg.warps, threadIdx.x);
  const int m = at.m * cfg.warp().m, n = at.n * cfg.warp().n, lane = threadIdx.x % 32;
  using A = typename Stage<cfg>::A;
  using B = typename Stage<cfg>::B;
  const bool a_along_k = p.a_col == 1, b_along_k = p.b_row == 1;
  Warp<cfg> warp{a_along_k, b_along_k, tile::mma_lane_offset<A, kA>(a_along_k, lane, m),
                 tile::mma_lane_offset<B, kB>(b_along_k, lane, n)};
  warp.sums.clear();
  if (p.k > 0) {
    using CopyA = copy::EitherTileCopy<A, cfg.threads()>;
    using CopyB = copy::EitherTileCopy<B, cfg.threads()>;
    const CopyA a(static_cast<const Element*>(p.a), p.a_row, p.a_col, p.m, p.k, origin.row, 0);
    const CopyB b(static_cast<const Element*>(p.b), p.b_col, p.b_row, p.n, p.k, origin.col, 0);
    pipeline::CpAsyncRing<Stage<cfg>, CopyA, CopyB, cfg.stages> ring(
        reinterpret_cast<Stage<cfg>*>(memory), a, b, p.k);
#pragma unroll 1
    while (ring.has_tile()) warp.multiply_stage(ring);
    ring.drain();
  }
  const long long row = origin.row + m, col = origin.col + n;
  if (p.beta == 0) {
    epilogue::store_fragments<ElementType::kBf16, false>(warp.sums, p, row, col);
  } else {
    epilogue::store_fragments<ElementType::kBf16, true>(warp.sums, p, row, col);
  }
}

}  // namespace tessera::mma_sync
