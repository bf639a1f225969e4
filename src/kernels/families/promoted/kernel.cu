// FP32 products on Hopper's tensor cores: each operand is split into two FP16 terms, three products
// of terms are summed, and the sums are promoted (added to FP32 master sums). One warp loads terms
// by tensor copies, two warpgroups multiply and promote. The grid is persistent.
//
// If the terms would lose digits (passes/terms.h), the same launch multiplies the caller's operands
// by FFMAs: NaN, infinities and numbers of any exponent then behave as in FP32.
#include "kernels/copy/tma.h"
#include "kernels/epilogue/add_c.h"
#include "kernels/epilogue/scale_back.h"
#include "kernels/epilogue/store_pairs.h"
#include "kernels/epilogue/store_tma.h"
#include "kernels/families/promoted/config.h"
#include "kernels/families/promoted/params.h"
#include "kernels/mainloop/ffma_strided.h"
#include "kernels/mainloop/wgmma.h"
#include "kernels/mainloop/wgmma_promoted.h"
#include "kernels/passes/terms.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/named_barrier.h"
#include "kernels/ptx/registers.h"
#include "kernels/ptx/wgmma_n128.h"
#include "kernels/ptx/wgmma_n64.h"
#include "kernels/schedule/tile_walk.h"

namespace tessera::promoted {

// Types and constants that follow from a config.
template <Config cfg>
struct Types {
  static constexpr auto kType = ptx::MatrixType::kF16;
  using TileA = tile::SharedTile<kType, cfg.block.m, kRowHalves, ptx::Major::kK>;  // (m, 2 k)
  using TileB = tile::SharedTile<kType, cfg.block.n, kRowHalves, ptx::Major::kK>;  // (n, 2 k)
  using Ring = pipeline::MbarrierRing<TileA, TileB, cfg.stages>;
  using Position = pipeline::Position<cfg.stages>;
  using Sums = tile::Accumulators<cfg.rows(), cfg.block.n>;
  using Panels = epilogue::StorePanels<ElementType::kF32, cfg.block.n, 1>;
  using Walk = schedule::TileWalk<OutputTile{1, 1}>;

  struct Shared {
    Ring ring;
    Panels panels[4 * cfg.kConsumers];  // one per warp
  };
};

// The producer: one thread loads all tiles of the CTA.
template <Config cfg>
__device__ void load_all(typename Types<cfg>::Shared& shared, const PromotedParams& p) {
  using T = Types<cfg>;
  typename T::Position at;
  const int products = 1;
  for (typename T::Walk walk(p.raster, products); walk.valid(); walk.advance()) {
    mainloop::load_tiles<copy::TmaTile<typename T::TileA, 1>, copy::TmaTile<typename T::TileB, 1>,
                         2, false>(shared.ring, at, p.a_map, p.b_map, walk.corner(cfg.block), 0,
                                   p.stages, {{0, 1}, {0, 1}}, {0, 0});
  }
}

// A consumer warpgroup multiplies and stores its rows of all tiles of the CTA.
template <Config cfg>
__device__ void multiply_all(typename Types<cfg>::Shared& shared, const PromotedParams& p,
                             int consumer) {
  using T = Types<cfg>;
  using Store = epilogue::PanelsOfC<ElementType::kF32, cfg.block.n, 1, typename T::Sums>;
  auto& panels = shared.panels[consumer * 4 + threadIdx.x / 32 % 4];
  typename T::Position at;
  typename T::Sums sums;
  const int products = 1;
  for (typename T::Walk walk(p.raster, products); walk.valid(); walk.advance()) {
    const auto release = [&](int stage) { shared.ring.release(stage, walk.place()); };
    const tile::Coord<> corner = walk.corner(cfg.block);
    mainloop::multiply_promoted<typename T::TileA, typename T::TileB, kLowExponent>(
        sums, shared.ring, at, p.stages, consumer * cfg.rows(), release);
    const int row = corner.m + consumer * cfg.rows() +
                    static_cast<int>(threadIdx.x) / 32 % 4 * epilogue::kWarpRows;
    epilogue::scale_back(sums, p.gemm, p.a_terms.exponents, p.b_terms.exponents, row, corner.n);
    Store c(panels, p.gemm, row, corner.n);
    c.start();
    epilogue::ScaledSums op;
    epilogue::store_by_tma<ElementType::kF32>(
        panels, sums, c.add_to(sums), {p.d_map, p.copied_columns, 0, false}, row, corner.n, op);
  }
  if (ptx::elect_one()) ptx::bulk_wait_group<0>();
}

// The first kFfma.threads() threads multiply the caller's operands by FFMAs, tile by tile.
__device__ inline void multiply_by_ffma(mainloop::StridedTiles<kFfma>& tiles, const GemmParams& p) {
  constexpr int kBarrier = 1;
  const long long tiles_m = (p.m + kFfma.block.m - 1) / kFfma.block.m;
  const long long tiles_n = (p.n + kFfma.block.n - 1) / kFfma.block.n;
  for (long long i = blockIdx.x; i < tiles_m * tiles_n; i += gridDim.x) {
    const tile::Coord<long long> at = schedule::grouped_tile(i, tiles_m, tiles_n);
    const tile::Coord<long long> first{at.m * kFfma.block.m, at.n * kFfma.block.n};
    const auto sums = mainloop::multiply_strided<kFfma, kFfmaChainK>(
        tiles, {p.a, p.m, p.k, p.a_row, p.a_col}, {p.b, p.n, p.k, p.b_col, p.b_row}, first,
        [](const void* matrix, long long j) { return static_cast<const float*>(matrix)[j]; },
        [] { ptx::barrier_sync(kBarrier, kFfma.threads()); });
    sums.for_each([&](float sum, int row, int column) {
      const long long m = first.m + row, n = first.n + column;
      if (m >= p.m || n >= p.n) return;
      float value = static_cast<float>(p.alpha) * sum;
      if (p.beta != 0) {
        value += static_cast<float>(p.beta) * static_cast<const float*>(p.c)[m * p.c_row + n];
      }
      static_cast<float*>(p.d)[m * p.d_row + n] = value;
    });
  }
}

// Whether the split into terms lost digits of an operand. All threads call it.
__device__ inline bool terms_are_lost(const PromotedParams& p) {
  int lost = 0;
  const auto add = [&](const passes::TermsOf& terms) {
    for (int i = threadIdx.x; i < terms.lost_words; i += blockDim.x) lost |= terms.lost[i];
  };
  add(p.a_terms);
  add(p.b_terms);
  return __syncthreads_or(lost);
}

// Returns the warp's number. HW: setmaxnreg applies to whole warpgroups. WHY the shuffle: the
// compiler must know that all lanes have the same number, to keep descriptors in uniform registers.
__device__ inline int warp_of_roles() {
  return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
}

template <Config cfg>
__device__ void multiply_terms(typename Types<cfg>::Shared& shared, const PromotedParams& p) {
  const int warp = warp_of_roles();
  if (threadIdx.x == 0) {
    shared.ring.init(4 * cfg.kConsumers);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  if (warp < 4) {
    ptx::release_registers_to<cfg.kProducerRegisters>();
    if (warp == 0 && ptx::elect_one()) load_all<cfg>(shared, p);
  } else {
    ptx::acquire_registers_up_to<cfg.kConsumerRegisters>();
    multiply_all<cfg>(shared, p, warp / 4 - 1);
  }
}

template <Config cfg>
__device__ void run(const PromotedParams& p) {
  static_assert(is_legal(cfg));
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  if (p.stages == 0) return epilogue::store_without_sums<ElementType::kF32>(p.gemm);
  using Tiles = mainloop::StridedTiles<kFfma>;
  using Shared = typename Types<cfg>::Shared;
  static_assert(sizeof(Tiles) <= cfg.shared_bytes() && sizeof(Shared) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  if (!terms_are_lost(p)) return multiply_terms<cfg>(*reinterpret_cast<Shared*>(memory), p);
  if (threadIdx.x < kFfma.threads()) multiply_by_ffma(*reinterpret_cast<Tiles*>(memory), p.gemm);
}

// The entry point of an earlier launch, which splits the operands.
using passes::split_terms;

}  // namespace tessera::promoted
