// FP64 products on the FP64 tensor cores, for any sizes, strides and layouts. All warps copy tiles
// into a ring in shared memory by cp.async and multiply from it; several CTAs share an SM, so that
// one multiplies while another begins or ends a tile. The grid is persistent with a stream-K
// schedule: the last wave is full, and a product that is long in k is split among all SMs. The
// tiles of a batch's products form one column, one product below the other.
//
// TRIED: copies of the next output tile's operands while one tile is stored, and bulk copies of the
// sums from shared memory to D while the next tile is multiplied, with three stages of 128x128
// instead of six. On an H200, NN, NT and TT took 0 to 3 % longer at 2048 and 4096, and TN, with
// half as many moves in its main loop (Config::loads_elements), 1 % less. 64 products of 512 took
// 348 us instead of 342 in NN, and 349 instead of 357 in TN (results/variants/f64_ahead.json;
// before: results/tensor/f64.json, results/batches/f64_64x512.json).
#include "kernels/copy/swizzled_tile_copy.h"
#include "kernels/epilogue/output.h"
#include "kernels/epilogue/store_registers.h"
#include "kernels/families/dmma/config.h"
#include "kernels/families/dmma/params.h"
#include "kernels/mainloop/dmma.h"
#include "kernels/passes/reduce.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/load_double.h"
#include "kernels/schedule/product_of.h"
#include "kernels/schedule/stream_k.h"
#include "kernels/tile/lanes.h"

namespace tessera::dmma_f64 {

template <Config cfg>
using Stage = mainloop::DmmaStage<cfg>;
template <Config cfg>
using CopyA = copy::SwizzledTileCopy<typename Stage<cfg>::A, cfg.threads()>;
template <Config cfg>
using CopyB = copy::SwizzledTileCopy<typename Stage<cfg>::B, cfg.threads()>;
template <Config cfg>
inline constexpr auto kBeyond = cfg.has_registers_left() ? pipeline::Beyond::kNothing
                                                         : pipeline::Beyond::kZeros;
template <Config cfg>
using Ring = pipeline::CpAsyncRing<Stage<cfg>, CopyA<cfg>, CopyB<cfg>, cfg.stages, kBeyond<cfg>>;
template <Config cfg>
using Accumulators = mainloop::DmmaAccumulators<cfg>;

template <Config cfg>
__device__ void multiply(Accumulators<cfg>& sums, Stage<cfg>* stages, const GemmParams& p,
                         const schedule::Work& work, tile::Coord<> warp) {
  if (work.k_begin == work.k_end) return;  // A and B are not read
  const long long k_begin = static_cast<long long>(work.k_begin) * cfg.block.k;
  const long long k_end = static_cast<long long>(work.k_end) * cfg.block.k;
  copy::OperandOf<double> a = copy::operand_a<double, cfg.majors.a>(p);
  copy::OperandOf<double> b = copy::operand_b<double, cfg.majors.b>(p);
  const CopyA<cfg> copy_a(a, work.tile_m * cfg.block.m, k_begin);
  const CopyB<cfg> copy_b(b, work.tile_n * cfg.block.n, k_begin);
  Ring<cfg> ring(stages, copy_a, copy_b, (k_end < p.k ? k_end : p.k) - k_begin);
  mainloop::DmmaMainloop<cfg, Ring<cfg>>(sums, ring, warp.m * cfg.warp().m, warp.n * cfg.warp().n)
      .multiply();
}

// Prefetches the tile of C to L2 while the sums are computed, one line of 128 bytes at a time. A
// row that does not begin at a line boundary touches one more line.
template <Config cfg>
__device__ void fetch_c(const GemmParams& p, const schedule::Work& work) {
  if (p.beta == 0 || work.slot >= 0) return;
  constexpr int kOfLine = 16, kLines = cfg.block.n / kOfLine + 1;
  const long long row = work.tile_m * cfg.block.m, column = work.tile_n * cfg.block.n;
  for (int i = static_cast<int>(threadIdx.x); i < cfg.block.m * kLines; i += cfg.threads()) {
    const int of_line = i % kLines * kOfLine;
    const long long r = row + i / kLines;
    const long long c = column + (of_line < cfg.block.n ? of_line : cfg.block.n - 1);
    if (r < p.m && c < p.n) ptx::prefetch_to_l2(static_cast<const double*>(p.c) + r * p.c_row + c);
  }
}

// Stores the sums to D, or as partial sums to the workspace.
template <Config cfg>
__device__ void store(const GemmParams& p, double* partials, const schedule::Work& work,
                      tile::Coord<> warp, const Accumulators<cfg>& sums) {
  constexpr OutputTile kBlock{cfg.block.m, cfg.block.n};
  const auto output = work.slot >= 0 ? epilogue::partial_tile(partials, work.slot, kBlock)
                                     : epilogue::vector_output_of<double, double>(p).from(
                                           work.tile_m * kBlock.m, work.tile_n * kBlock.n);
  const auto of_warp = output.from(warp.m * cfg.warp().m, warp.n * cfg.warp().n);
  epilogue::store_vectors_with_c<cfg.has_registers_left()>(of_warp, cfg.warp(), threadIdx.x % 32,
                                                           sums);
}

template <Config cfg>
struct SharedMemory {
  Stage<cfg> stages[cfg.stages];
  // WHY in shared memory: in registers, this state would take a dozen registers of each thread.
  schedule::Work work;
  schedule::Addresses product;  // addresses of the product that the work belongs to
};

// One thread stores the CTA's next work.
template <Config cfg>
__device__ void take(SharedMemory<cfg>& shared, const DmmaParams& p, const schedule::Work& work) {
  shared.work = work;
  if (!work.valid) return;
  const int product = static_cast<int>(work.tile_m) / p.batch.tiles_m;
  shared.work.tile_m = static_cast<int>(work.tile_m) % p.batch.tiles_m;
  shared.product = schedule::addresses_of(p.gemm, p.batch, product);
}

template <Config cfg>
__device__ void run(const DmmaParams& p) {
  static_assert(is_legal(cfg) && sizeof(SharedMemory<cfg>) <= cfg.shared_bytes());
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedMemory<cfg>*>(memory);
  if constexpr (cfg.starts_early()) {
    ptx::launch_dependents();
    ptx::wait_for_prerequisites();
  }
  const tile::Coord<> warp = tile::warp_coord(cfg.warp_grid(), threadIdx.x);
  if (threadIdx.x == 0) take<cfg>(shared, p, schedule::first(p.schedule, blockIdx.x));
  __syncthreads();
  while (shared.work.valid) {
    if constexpr (cfg.has_registers_left())
      fetch_c<cfg>(schedule::with_addresses(p.gemm, shared.product), shared.work);
    Accumulators<cfg> sums;
    sums.clear();
    multiply<cfg>(sums, shared.stages, schedule::with_addresses(p.gemm, shared.product),
                  shared.work, warp);
    store<cfg>(schedule::with_addresses(p.gemm, shared.product), p.partials, shared.work, warp,
               sums);
    __syncthreads();  // all threads have read shared.work
    if (threadIdx.x == 0) take<cfg>(shared, p, schedule::next(p.schedule, blockIdx.x, shared.work));
    __syncthreads();
  }
}

// The kernel that adds partial sums, one entry per tile size. HW: early launches need SM 9.0.
template <int block_m, int block_n, bool starts_early>
__device__ void reduce(const DmmaParams& p) {
  passes::reduce<block_m, block_n, double, starts_early>(p);
}

}  // namespace tessera::dmma_f64
