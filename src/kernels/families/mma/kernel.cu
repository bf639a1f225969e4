// BF16, FP16 and TF32 products on the tensor cores of every GPU from SM 8.0 on, for any sizes,
// strides and layouts. All warps copy tiles into a ring in shared memory by cp.async and multiply
// from it by mma.sync. The grid is persistent with a stream-K schedule: the last wave is full, and
// a product that is long in k is split among all SMs. The tiles of a batch's products form one
// column, one product below the other.
#include "kernels/copy/either_tile_copy.h"
#include "kernels/epilogue/store_shifted_pairs.h"
#include "kernels/families/mma/config.h"
#include "kernels/families/mma/params.h"
#include "kernels/mainloop/mma.h"
#include "kernels/passes/reduce_tiles.h"
#include "kernels/schedule/product_of.h"
#include "kernels/tile/lanes.h"

namespace tessera::mma {

template <Config cfg>
using Stage = mainloop::MmaStage<cfg>;
template <Config cfg>
using CopyA = copy::EitherTileCopy<typename Stage<cfg>::A, cfg.threads()>;
template <Config cfg>
using CopyB = copy::EitherTileCopy<typename Stage<cfg>::B, cfg.threads()>;
template <Config cfg>
using Ring = pipeline::CpAsyncRing<Stage<cfg>, CopyA<cfg>, CopyB<cfg>, cfg.stages,
                                   pipeline::Beyond::kNothing>;
template <Config cfg>
using Sums = mainloop::MmaAccumulators<cfg>;

// `beside` is called while the first k tiles are being loaded.
template <Config cfg, class Beside>
__device__ void multiply(Sums<cfg>& sums, Stage<cfg>* stages, const GemmParams& p,
                         const schedule::Work& work, tile::Coord<> warp, Beside beside) {
  if (work.k_begin == work.k_end) return beside();  // A and B are not read
  using T = typename Stage<cfg>::T;
  const long long k_begin = static_cast<long long>(work.k_begin) * cfg.block.k;
  const long long k_end = static_cast<long long>(work.k_end) * cfg.block.k;
  const CopyA<cfg> a(static_cast<const T*>(p.a), p.a_row, p.a_col, p.m, p.k,
                     work.tile_m * cfg.block.m, k_begin);
  const CopyB<cfg> b(static_cast<const T*>(p.b), p.b_col, p.b_row, p.n, p.k,
                     work.tile_n * cfg.block.n, k_begin);
  Ring<cfg> ring(stages, a, b, (k_end < p.k ? k_end : p.k) - k_begin);
  beside();
  mainloop::multiply_along<cfg>(sums, ring, warp.m * cfg.warp().m, warp.n * cfg.warp().n,
                                a.along_k(), b.along_k());
}

// Returns a slot of the workspace as the D of a problem with alpha 1 and without C.
template <Config cfg>
__device__ GemmParams partial(const MmaParams& p, long long slot) {
  GemmParams to{};
  to.d = p.partials + slot * cfg.block.m * cfg.block.n;
  to.m = cfg.block.m, to.n = to.d_row = cfg.block.n;
  to.alpha = 1;
  return to;
}

// Stores the sums to D, or as partial sums to the workspace.
template <Config cfg>
__device__ void store(const MmaParams& p, const GemmParams& gemm, const schedule::Work& work,
                      tile::Coord<> warp, const Sums<cfg>& sums) {
  const int m = warp.m * cfg.warp().m, n = warp.n * cfg.warp().n;
  const long long row = work.tile_m * cfg.block.m + m, column = work.tile_n * cfg.block.n + n;
  if (work.slot >= 0) {
    epilogue::store_fragments<ElementType::kF32, false>(sums, partial<cfg>(p, work.slot), m, n);
  } else if (gemm.beta != 0) {
    epilogue::store_fragments<cfg.out, true>(sums, gemm, row, column);
  } else if (epilogue::has_shifted_pairs<cfg.out>(gemm)) {
    epilogue::store_shifted_pairs<cfg.out, cfg.warp().n>(sums, gemm, row, column);
  } else {
    epilogue::store_fragments<cfg.out, false>(sums, gemm, row, column);
  }
}

template <Config cfg>
struct SharedMemory {
  Stage<cfg> stages[cfg.stages];
  // The CTA's current and next work. WHY in shared memory: the state of the schedule would take a
  // dozen registers per thread.
  struct Item {
    schedule::Work work;
    schedule::Addresses product;  // addresses of the product that the work belongs to
  } items[2];
};

// One thread stores an item of the CTA's work.
template <class Item>
__device__ void take(Item& item, const MmaParams& p, const schedule::Work& work) {
  item.work = work;
  if (!work.valid) return;
  const int product = static_cast<int>(work.tile_m) / p.batch.tiles_m;
  item.work.tile_m = static_cast<int>(work.tile_m) % p.batch.tiles_m;
  item.product = schedule::addresses_of(p.gemm, p.batch, product);
}

template <Config cfg>
__device__ void run(const MmaParams& p) {
  static_assert(is_legal(cfg) && sizeof(SharedMemory<cfg>) <= cfg.shared_bytes());
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedMemory<cfg>*>(memory);
  const tile::Coord<> warp = tile::warp_coord(cfg.warps, threadIdx.x);
  if (threadIdx.x == 0) take(shared.items[0], p, schedule::first(p.schedule, blockIdx.x));
  __syncthreads();
  for (int i = 0; shared.items[i].work.valid; i ^= 1) {
    const auto& [work, product] = shared.items[i];
    Sums<cfg> sums;
    sums.clear();
    // WHY during the loads: take() divides, and may wait for addresses from device memory.
    multiply<cfg>(sums, shared.stages, schedule::with_addresses(p.gemm, product), work, warp, [&] {
      if (threadIdx.x > 0) return;
      take(shared.items[i ^ 1], p, schedule::next(p.schedule, blockIdx.x, work));
    });
    store<cfg>(p, schedule::with_addresses(p.gemm, product), work, warp, sums);
    __syncthreads();  // all threads have read this item, and see the next one
  }
}

using passes::reduce_tiles;  // one entry per tile size

}  // namespace tessera::mma
