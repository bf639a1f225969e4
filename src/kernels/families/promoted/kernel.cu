// FP32 products on Hopper's tensor cores: operands in two FP16 terms each, three products of these,
// and sums that are promoted. One warp loads stages of terms by tensor copies, two warpgroups
// multiply and promote in turns. The grid is persistent.
//
// Where the terms would lose digits (passes/terms.h) the same launch multiplies the caller's
// operands: numbers of any exponent in two TF32 terms, which a warpgroup makes; NaN, infinities and
// very small numbers by FFMAs, and they behave as they do there.
#include "kernels/copy/tf32_terms.h"
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
#include "kernels/ptx/registers.h"
#include "kernels/ptx/wgmma_n128.h"
#include "kernels/ptx/wgmma_n192.h"
#include "kernels/ptx/wgmma_n64.h"
#include "kernels/schedule/tile_walk.h"

namespace tessera::promoted {

// The two kinds of terms.
using ptx::MatrixType;

// Everything that follows from a config and a kind.
template <Config cfg, MatrixType kind>
struct Types {
  static constexpr bool kIsHalf = kind == MatrixType::kF16;
  static constexpr int kRow = tile::kRowBytes * 8 / ptx::bits_of(kind);  // terms
  static constexpr int kStages = kIsHalf ? cfg.stages : cfg.stages - kRawStages / 2;
  using TileA = tile::SharedTile<kind, cfg.block.m, kRow, ptx::Major::kK>;  // (m, 2 k)
  using TileB = tile::SharedTile<kind, cfg.block.n, kRow, ptx::Major::kK>;  // (n, 2 k)
  using Ring = pipeline::MbarrierRing<TileA, TileB, kStages>;
  using Position = pipeline::Position<kStages>;
  using Sums = tile::Accumulators<cfg.rows(), cfg.block.n>;
  using Panels = epilogue::StorePanels<ElementType::kF32, cfg.block.n, 1>;
  using Walk = schedule::TileWalk<OutputTile{1, 1}>;

  struct Shared {
    Ring ring;
    Panels panels[4 * cfg.kConsumers];  // one a warp
  };
  // Before they are split.
  struct Raw {
    copy::RawTile<cfg.block.m> a;
    copy::RawTile<cfg.block.n> b;
  };
  struct SharedWithRaw {
    Shared shared;
    Raw raw[kRawStages];
  };
  // Stages of k.
  __device__ static int stages(const PromotedParams& p) {
    return p.stages * (kStageK * kTerms / kRow);
  }
};

// One thread.
template <Config cfg>
__device__ void load_halves(typename Types<cfg, MatrixType::kF16>::Shared& shared,
                            const PromotedParams& p) {
  using T = Types<cfg, MatrixType::kF16>;
  typename T::Position at;
  const int products = 1;
  for (typename T::Walk walk(p.raster, products); walk.valid(); walk.advance()) {
    mainloop::load_tiles<copy::TmaTile<typename T::TileA, 1>, copy::TmaTile<typename T::TileB, 1>,
                         2, false>(shared.ring, at, p.a_map, p.b_map, walk.corner(cfg.block), 0,
                                   p.stages, {{0, 1}, {0, 1}}, {0, 0});
  }
}

// A warpgroup: splits the caller's operands, tile after tile, into the stages of the ring.
template <Config cfg>
__device__ void load_tf32(typename Types<cfg, MatrixType::kTF32>::SharedWithRaw& memory,
                          const PromotedParams& p) {
  using T = Types<cfg, MatrixType::kTF32>;
  constexpr int kThreads = tile::kWarpgroup, kBarrier = 3;  // turns have 1 and 2
  const copy::StridedOperand a{p.gemm.a, p.gemm.m, p.gemm.k, p.gemm.a_row, p.gemm.a_col};
  const copy::StridedOperand b{p.gemm.b, p.gemm.n, p.gemm.k, p.gemm.b_col, p.gemm.b_row};
  auto& ring = memory.shared.ring;
  typename T::Position at;
  const int products = 1, stages = T::stages(p);
  for (typename T::Walk walk(p.raster, products); walk.valid(); walk.advance()) {
    const tile::Coord<> corner = walk.corner(cfg.block);
    const auto start = [&](int stage) {
      if (stage < stages) {
        auto& raw = memory.raw[stage % kRawStages];
        const int k = stage * copy::kTf32K;
        raw.a.template load<kThreads>(a, corner.m, k);
        raw.b.template load<kThreads>(b, corner.n, k);
      }
      ptx::cp_async_commit_group();
    };
    for (int stage = 0; stage < kRawStages - 1; ++stage) start(stage);
#pragma unroll 1
    for (int stage = 0; stage < stages; ++stage, at.advance()) {
      ptx::cp_async_wait_group<kRawStages - 2>();
      ptx::barrier_sync(kBarrier, kThreads);  // of all threads; the stage before has been split
      start(stage + kRawStages - 1);
      ptx::mbarrier_wait_parity(ring.tile_consumed[at.stage], at.phase ^ 1);
      auto& raw = memory.raw[stage % kRawStages];
      raw.a.template split<kThreads>(ring.a[at.stage]);
      raw.b.template split<kThreads>(ring.b[at.stage]);
      ptx::fence_proxy_async_shared();
      ptx::barrier_sync(kBarrier, kThreads);  // the terms are there
      if (threadIdx.x == 0) ptx::mbarrier_arrive(ring.tile_loaded[at.stage]);
    }
  }
}

// A warpgroup.
template <Config cfg, MatrixType kind>
__device__ void multiply_all(typename Types<cfg, kind>::Shared& shared, const PromotedParams& p,
                             int consumer) {
  using T = Types<cfg, kind>;
  using Store = epilogue::PanelsOfC<ElementType::kF32, cfg.block.n, 1, typename T::Sums>;
  auto& panels = shared.panels[consumer * 4 + threadIdx.x / 32 % 4];
  typename T::Position at;
  typename T::Sums sums;
  bool waits = consumer == 1;
  const int products = 1;
  typename T::Walk walk(p.raster, products);
  const bool has_tile = walk.valid();
  const auto release = [&](int stage) { shared.ring.release(stage, walk.place()); };
  for (; walk.valid(); walk.advance()) {
    const tile::Coord<> corner = walk.corner(cfg.block);
    mainloop::multiply_promoted<typename T::TileA, typename T::TileB, cfg.chains()>(
        sums, shared.ring, at, T::stages(p), consumer * cfg.rows(), consumer, waits, release);
    const int row = corner.m + consumer * cfg.rows() +
                    static_cast<int>(threadIdx.x) / 32 % 4 * epilogue::kWarpRows;
    if (T::kIsHalf) {
      epilogue::scale_back(sums, p.gemm, p.a_terms.exponents, p.b_terms.exponents, row, corner.n);
    }
    Store c(panels, p.gemm, row, corner.n);
    c.start();
    epilogue::ScaledSums op;
    epilogue::store_by_tma<ElementType::kF32>(
        panels, sums, c.add_to(sums), {p.d_map, p.copied_columns, 0, false}, row, corner.n, op);
  }
  // The turn that was passed on last is taken; a CTA without a tile passed none.
  if (consumer == 0 && has_tile) pipeline::Turns::wait(0);
  if (ptx::elect_one()) ptx::bulk_wait_group<0>();
}

// kFfma.threads() threads: the product of the caller's operands, tile after tile.
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

// All threads. Bits of what FP16 terms would lose.
__device__ inline int lost_by_halves(const PromotedParams& p) {
  int lost = 0;
  const auto add = [&](const passes::TermsOf& terms) {
    for (int i = threadIdx.x; i < terms.lost_words; i += blockDim.x) lost |= terms.lost[i];
  };
  add(p.a_terms);
  add(p.b_terms);
  return __syncthreads_or(lost) ? passes::or_of_all(lost) : 0;
}

// HW: setmaxnreg speaks to whole warpgroups. WHY the shuffle: the compiler must know that the
// number is the same in all lanes, so that descriptors live in uniform registers.
__device__ inline int warp_of_roles() {
  return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
}

// All threads. `load()`: the first warpgroup's part.
template <Config cfg, MatrixType kind, class Load>
__device__ void run_terms(typename Types<cfg, kind>::Shared& shared, const PromotedParams& p,
                          int warp, Load load) {
  if (threadIdx.x == 0) {
    shared.ring.init(4 * cfg.kConsumers);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  if (warp < 4) {
    ptx::release_registers_to<cfg.kProducerRegisters>();
    load();
  } else {
    ptx::acquire_registers_up_to<cfg.kConsumerRegisters>();
    multiply_all<cfg, kind>(shared, p, warp / 4 - 1);
  }
}

template <Config cfg>
__device__ void run(const PromotedParams& p) {
  static_assert(is_legal(cfg));
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  if (p.stages == 0) return epilogue::store_without_sums<ElementType::kF32>(p.gemm);
  static_assert(sizeof(mainloop::StridedTiles<kFfma>) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  const int lost = lost_by_halves(p);
  if (passes::needs_ffma(lost)) {
    if (threadIdx.x >= kFfma.threads()) return;
    return multiply_by_ffma(*reinterpret_cast<mainloop::StridedTiles<kFfma>*>(memory), p.gemm);
  }
  const int warp = warp_of_roles();
  if (passes::needs_tf32(lost)) {
    using Memory = typename Types<cfg, MatrixType::kTF32>::SharedWithRaw;
    static_assert(sizeof(Memory) <= cfg.shared_bytes());
    auto& all = *reinterpret_cast<Memory*>(memory);
    return run_terms<cfg, MatrixType::kTF32>(all.shared, p, warp, [&] { load_tf32<cfg>(all, p); });
  }
  using Memory = typename Types<cfg, MatrixType::kF16>::Shared;
  static_assert(sizeof(Memory) <= cfg.shared_bytes());
  auto& all = *reinterpret_cast<Memory*>(memory);
  run_terms<cfg, MatrixType::kF16>(all, p, warp, [&] {
    if (warp == 0 && ptx::elect_one()) load_halves<cfg>(all, p);
  });
}

// An entry of its own.
using passes::split_terms;

}  // namespace tessera::promoted
