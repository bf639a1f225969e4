// Rung 25: each fragment that is loaded is used many times, by matrix instructions of 16 rows.
//
// Rung 24 was limited by its loads of fragments: two per 8x8x4 instruction, which has half the rate
// of larger instructions. Here a warp keeps 32 x 64 sums in registers: for 8 steps in k each lane
// loads two doubles 12 times, and the warp issues 16 instructions of 16x8x8. A block of 4 x 2 warps
// reads its tiles from a ring of three stages in shared memory, which cp.async fills. There are no
// packed copies.
//
//   tile/swizzled_tile.h        a tile in shared memory, for either contiguous index of the operand
//   tile/dmma_lanes.h           the elements that each lane reads, chosen so
//                               that its 128-bit loads have no
//                               bank conflicts
//   copy/swizzled_tile_copy.h   cp.async of 16 bytes, or of 8 where base or stride are odd
#include "kernels/copy/swizzled_tile_copy.h"
#include "kernels/epilogue/store_registers.h"
#include "kernels/pipeline/cp_async_ring.h"
#include "kernels/tile/dmma_accumulators.h"
#include "kernels/tile/lanes.h"
#include "ladder/25_dmma/config.h"
#include "ladder/shared/common.h"

namespace tessera::dmma {

template <Config cfg>
struct Stage {
  using A = tile::SwizzledTile<double, cfg.block.m, cfg.block.k, cfg.majors.a>;  // (m, k)
  using B = tile::SwizzledTile<double, cfg.block.n, cfg.block.k, cfg.majors.b>;  // (n, k)
  static constexpr int kDepth = cfg.block.k;

  A a;
  B b;
};

inline constexpr int kStep = 8;  // k of the fragments; a lane loads two neighbours at a time

template <Config cfg>
using Sums = tile::DmmaAccumulators<cfg.warp().m, cfg.warp().n>;

template <Config cfg>
struct Warp {
  int at_a, at_b;  // offsets of this lane's loads in a stage
  Sums<cfg> sums;

  // One step in k. Keeps the fragments of A in registers, and loads 16 columns of B at a time.
  __device__ void multiply_step(const Stage<cfg>& stage, int step) {
    tile::DmmaFragments<typename Stage<cfg>::A, cfg.warp().m / 16, kStep> a;
    a.load(stage.a, at_a, 0, step);
#pragma unroll
    for (int j = 0; j < cfg.warp().n / 16; ++j) {
      tile::DmmaFragments<typename Stage<cfg>::B, 1, kStep> b;
      b.load(stage.b, at_b, j, step);
      sums.template multiply_add<tile::Dmma::kM16N8K8>(j, a, b);
    }
  }

  // Multiplies one stage while two others are being loaded.
  template <bool whole, class Ring>
  __device__ void multiply_stage(Ring& ring) {
    ring.template start_next<whole>(0, 1);
#pragma unroll
    for (int step = 0; step < cfg.block.k / kStep; ++step) multiply_step(ring.current(), step);
    ring.finish_next();
  }
};

// sums += A * B for the block's tile. Whole tiles are copied without bounds checks; the loop for
// partial tiles checks.
template <Config cfg>
__device__ void multiply(Warp<cfg>& warp, const GemmParams& p, Stage<cfg>* stages, long long row,
                         long long col) {
  using CopyA = copy::SwizzledTileCopy<typename Stage<cfg>::A, cfg.threads()>;
  using CopyB = copy::SwizzledTileCopy<typename Stage<cfg>::B, cfg.threads()>;
  const CopyA a(copy::operand_a<double, cfg.majors.a>(p), row, 0);
  const CopyB b(copy::operand_b<double, cfg.majors.b>(p), col, 0);
  pipeline::CpAsyncRing<Stage<cfg>, CopyA, CopyB, cfg.stages> ring(stages, a, b, p.k);
#pragma unroll 1
  while (ring.has_tile() && ring.next_is_whole()) warp.template multiply_stage<true>(ring);
#pragma unroll 1
  while (ring.has_tile()) warp.template multiply_stage<false>(ring);
  ring.drain();
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg));
  extern __shared__ __align__(128) unsigned char memory[];
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const tile::Coord<> at = tile::warp_coord(cfg.warps, threadIdx.x);
  const int row = at.m * cfg.warp().m, col = at.n * cfg.warp().n, lane = threadIdx.x % 32;
  Warp<cfg> warp{tile::DmmaLoads<typename Stage<cfg>::A>::lane_offset(lane, row),
                 tile::DmmaLoads<typename Stage<cfg>::B>::lane_offset(lane, col)};
  warp.sums.clear();
  if (p.k > 0) {
    multiply<cfg>(warp, p, reinterpret_cast<Stage<cfg>*>(memory), origin.row, origin.col);
  }
  const auto output =
      epilogue::vector_output_of<double, double>(p).from(origin.row + row, origin.col + col);
  epilogue::store_vectors(output, cfg.warp(), lane, warp.sums);
}

}  // namespace tessera::dmma
