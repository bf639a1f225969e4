// FP64 products on the FP64 tensor cores, for any sizes, strides and layouts. All warps copy tiles
// into a ring in shared memory by cp.async and multiply from it; the copies go on with the next
// output tile's while one is stored, and the stores with the next one's products. The grid is
// persistent and walks a stream-K schedule: no wave is left half empty, and a product that is long
// in k is split among all SMs. The products of a batch are one column of tile rows.
#include "kernels/copy/swizzled_tile_copy.h"
#include "kernels/epilogue/output.h"
#include "kernels/epilogue/store_bulk_rows.h"
#include "kernels/epilogue/store_vectors.h"
#include "kernels/families/dmma/config.h"
#include "kernels/families/dmma/params.h"
#include "kernels/mainloop/dmma.h"
#include "kernels/passes/reduce.h"
#include "kernels/pipeline/cp_async_stream.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/thread_index.h"
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
using Accumulators = mainloop::DmmaAccumulators<cfg>;
template <Config cfg>
using Panel = epilogue::RowPanel<cfg.warp().m, cfg.warp().n, cfg.exchanges()>;

// What the CTA computes at a time.
struct Item {
  schedule::Work work;
  schedule::Addresses product;  // that the work is of
  int tail;                     // of k, in its last tile of operands
};

template <Config cfg, bool bulk_stores = cfg.bulk_stores>
struct SharedMemory {
  // WHY so many: while one is stored, each stage may be of another one, and the next ones are
  // written while those are read.
  static constexpr int kItems = 8, kAhead = cfg.stages + 1;
  static_assert(kAhead < kItems);

  Stage<cfg> stages[cfg.stages];
  Item items[kItems];

  __device__ Item& item(int i) { return items[i % kItems]; }
};
template <Config cfg>
struct SharedMemory<cfg, true> : SharedMemory<cfg, false> {
  Panel<cfg> panels[cfg.warps.m * cfg.warps.n];
};

// One thread: item number `i`.
template <Config cfg>
__device__ void put(SharedMemory<cfg>& shared, const DmmaParams& p, int i,
                    const schedule::Work& work) {
  Item& item = shared.item(i);
  item.work = work;
  if (!work.valid) return;
  const int product = static_cast<int>(work.tile_m) / p.batch.tiles_m;
  item.work.tile_m = static_cast<int>(work.tile_m) % p.batch.tiles_m;
  item.product = schedule::addresses_of(p.gemm, p.batch, product);
  item.tail = tile::inside((work.k_end - 1LL) * cfg.block.k, p.gemm.k, cfg.block.k);
}
template <Config cfg>
__device__ void put_next(SharedMemory<cfg>& shared, const DmmaParams& p, int i) {
  const schedule::Work& last = shared.item(i - 1).work;
  put<cfg>(shared, p, i, last.valid ? schedule::next(p.schedule, blockIdx.x, last) : last);
}

// The operands of one item after another.
template <Config cfg>
class Source {
 public:
  __device__ Source(SharedMemory<cfg>& shared, const DmmaParams& p) : shared_(shared), p_(p) {}

  __device__ bool has_next() const { return shared_.item(at_).work.valid; }
  __device__ pipeline::Operands<CopyA<cfg>, CopyB<cfg>> next() {
    const Item& item = shared_.item(at_++);
    const schedule::Work& work = item.work;
    const GemmParams p = schedule::with_addresses(p_.gemm, item.product);
    const long long k = static_cast<long long>(work.k_begin) * cfg.block.k;
    const int thread = ptx::thread_index_again();
    return {
        CopyA<cfg>(copy::operand_a<double, cfg.majors.a>(p), work.tile_m * cfg.block.m, k, thread),
        CopyB<cfg>(copy::operand_b<double, cfg.majors.b>(p), work.tile_n * cfg.block.n, k, thread),
        work.k_end - work.k_begin};
  }
  __device__ int tail() const { return shared_.item(at_ - 1).tail; }

 private:
  SharedMemory<cfg>& shared_;
  const DmmaParams& p_;
  int at_ = 0;
};
template <Config cfg>
using Ring = pipeline::CpAsyncStream<Stage<cfg>, CopyA<cfg>, CopyB<cfg>, Source<cfg>, cfg.stages>;

// To D, or as a partial sum.
template <Config cfg>
__device__ void store(SharedMemory<cfg>& shared, const DmmaParams& p, const Item& item,
                      const Accumulators<cfg>& sums) {
  const int thread = ptx::thread_index_again(), lane = thread % 32;
  const tile::Coord<> warp = tile::warp_coord(cfg.warp_grid(), thread);
  constexpr OutputTile kBlock{cfg.block.m, cfg.block.n};
  const schedule::Work& work = item.work;
  const GemmParams gemm = schedule::with_addresses(p.gemm, item.product);
  const auto block = work.slot >= 0 ? epilogue::partial_tile(p.partials, work.slot, kBlock)
                                    : epilogue::vector_output_of<double, double>(gemm).from(
                                          work.tile_m * kBlock.m, work.tile_n * kBlock.n);
  const auto output = block.from(warp.m * cfg.warp().m, warp.n * cfg.warp().n);
  if constexpr (cfg.bulk_stores) {
    if (output.vectors && output.rows >= cfg.warp().m && output.cols >= cfg.warp().n) {
      return epilogue::store_bulk_rows(shared.panels[thread / 32], output, lane, sums);
    }
  }
  epilogue::store_vectors(output, cfg.warp(), lane, sums);
}

// Where A and B are not read.
template <Config cfg>
__device__ void store_without_products(SharedMemory<cfg>& shared, const DmmaParams& p) {
  Accumulators<cfg> sums;
  sums.clear();
  for (int i = 0; shared.item(i).work.valid; ++i) {
    store<cfg>(shared, p, shared.item(i), sums);
    if (threadIdx.x == 0) put_next<cfg>(shared, p, i + 1);
    __syncthreads();
  }
}

template <Config cfg>
__device__ void multiply(SharedMemory<cfg>& shared, const DmmaParams& p) {
  constexpr int kAhead = SharedMemory<cfg>::kAhead;
  const auto put_first = [&] {
    if (threadIdx.x > 0) return;
    for (int i = 1; i < kAhead; ++i) put_next<cfg>(shared, p, i);
  };
  // WHY not always first: divisions would delay the first copies.
  const bool is_short = shared.item(0).work.k_end - shared.item(0).work.k_begin < cfg.stages;
  if (is_short) {
    put_first();
    __syncthreads();
  }
  Ring<cfg> ring(shared.stages, Source<cfg>(shared, p));
  if (!is_short) put_first();
  ring.finish_next();
  const tile::Coord<> warp = tile::warp_coord(cfg.warp_grid(), threadIdx.x);
  Accumulators<cfg> sums;
  mainloop::DmmaMainloop<cfg, Ring<cfg>> mainloop(sums, ring, warp.m * cfg.warp().m,
                                                  warp.n * cfg.warp().n);
  mainloop.begin();
#pragma unroll 1
  for (int i = 0; shared.item(i).work.valid; ++i) {
    const Item& item = shared.item(i);
    sums.clear();
    mainloop.multiply(item.work.k_end - item.work.k_begin);
    if (threadIdx.x == 0) put_next<cfg>(shared, p, i + kAhead);
    store<cfg>(shared, p, item, sums);
  }
  ptx::cp_async_wait_all();
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
  if (threadIdx.x == 0) put<cfg>(shared, p, 0, schedule::first(p.schedule, blockIdx.x));
  __syncthreads();
  if (!shared.item(0).work.valid) return;
  if (p.gemm.k == 0) {
    store_without_products<cfg>(shared, p);
  } else {
    multiply<cfg>(shared, p);
  }
  // The CTA's shared memory must not go before it has been read.
  if constexpr (cfg.bulk_stores) ptx::bulk_wait_group<0>();
}

// One name space for each image, whose entries are its rows and the launches that add partial sums.
namespace sm80 {
using dmma_f64::run;
template <int block_m, int block_n>
__device__ void reduce(const DmmaParams& p) {
  passes::reduce<block_m, block_n, double, false>(p);
}
}  // namespace sm80
namespace sm90 {
using dmma_f64::run;
template <int block_m, int block_n>
__device__ void reduce(const DmmaParams& p) {
  passes::reduce<block_m, block_n, double>(p);
}
}  // namespace sm90

}  // namespace tessera::dmma_f64
