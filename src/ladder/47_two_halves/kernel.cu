// Rung 47: FP32 from two halves. An FP32 number is split into a high and a low FP16 term. A product
// of two such numbers is three products of terms, low * high + high * low + high * high, which the
// tensor cores multiply exactly.
//
// Their sums are not exact: a tensor core truncates in every step, always towards zero, so the sums
// of a long chain of MMAs, as in rung 43, drift. Here a chain is 32 k long, and its sums are
// *promoted*: ordinary FP32 additions, which round to nearest, add them to master sums.
//
// The addition needs a finished chain, and the next chain needs the same registers, so a single
// consumer would leave the tensor cores idle while it adds. Two consumers alternate: one starts its
// chain when the other has started its own, and adds while that chain runs.
//
//   consumer 0     | chain | add |   | chain | add |
//   consumer 1             | chain | add |   | chain | add |
//
// The variant `128x192x32_s5_together` does not alternate.
//
//   passes/terms.h        the previous launch: a power of two per row, and the terms
//   pipeline/turns.h      two named barriers, one per consumer
#include "kernels/epilogue/add_c.h"
#include "kernels/epilogue/scale_back.h"
#include "kernels/epilogue/store_pairs.h"
#include "kernels/epilogue/store_tma.h"
#include "kernels/mainloop/wgmma.h"
#include "kernels/passes/terms.h"
#include "kernels/pipeline/turns.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/registers.h"
#include "kernels/ptx/wgmma_n192.h"
#include "kernels/schedule/cluster.h"
#include "ladder/47_two_halves/config.h"

namespace tessera::two_halves {

using passes::split_terms;  // the entry of the previous launch
using pipeline::Turns;

template <Config cfg>
struct Types {
  static constexpr auto kType = ptx::MatrixType::kF16;
  using A = tile::SharedTile<kType, cfg.block.m, kRowTerms, ptx::Major::kK>;  // (m, 2 k)
  using B = tile::SharedTile<kType, cfg.block.n, kRowTerms, ptx::Major::kK>;  // (n, 2 k)
  using Sums = tile::Accumulators<cfg.rows(), cfg.block.n>;
  using Ring = pipeline::MbarrierRing<A, B, cfg.stages>;
  using Position = pipeline::Position<cfg.stages>;
  using Panels = epilogue::StorePanels<ElementType::kF32, cfg.block.n, 1>;

  struct Shared {
    Ring ring;
    Panels panels[4 * cfg.kConsumers];  // one per consumer warp
  };
};

// Starts a chain (the products of a stage's terms, small ones first) without waiting for its end.
// `a` and `b` are descriptors of the stage's rows.
template <class A, class B, class Sums>
__device__ void start_chain(Sums& chain, std::uint64_t a, std::uint64_t b) {
  constexpr int kHigh = 0, kLow = kChainK;  // offsets of the terms in a row
  constexpr struct { int of_a, of_b; } kProducts[] = {{kLow, kHigh}, {kHigh, kLow}, {kHigh, kHigh}};
#pragma unroll
  for (int i = 0; i < 3; ++i) {
#pragma unroll
    for (int k = 0; k < kChainK; k += ptx::kWgmmaK<A::kType>) {
      ptx::wgmma<A::kType>(chain.sum[0][0], a + A::step(0, kProducts[i].of_a + k),
                           b + B::step(0, kProducts[i].of_b + k), i + k > 0);
    }
  }
  ptx::wgmma_commit_group();
}

template <class Sums>
__device__ void promote(Sums& master, const Sums& chain) {
#pragma unroll
  for (int i = 0; i < Sums::kCount; ++i) master.sum[0][0][i] += chain.sum[0][0][i];
}

// A consumer multiplies its rows of a tile of D. Before each chain it waits for its turn, but
// before the first chain only if `waits` is true.
template <Config cfg>
__device__ void multiply_tile(typename Types<cfg>::Sums& master, typename Types<cfg>::Ring& ring,
                              typename Types<cfg>::Position& at, const Params& p, int consumer,
                              bool& waits) {
  using A = typename Types<cfg>::A;
  using B = typename Types<cfg>::B;
  const std::uint64_t a =
      A::descriptor(ptx::shared_address(ring.a)) + A::step(consumer * cfg.rows(), 0);
  const std::uint64_t b = B::descriptor(ptx::shared_address(ring.b));
  typename Types<cfg>::Sums chain;
#pragma unroll
  for (float& sum : master.sum[0][0]) sum = 0;
#pragma unroll 1
  for (int i = 0; i < p.chains; ++i, at.advance()) {
    if (cfg.in_turns && waits) Turns::wait(consumer);
    waits = true;
    ring.wait(at);
    chain.pin();
    ptx::wgmma_fence();
    start_chain<A, B>(chain, a + at.stage * (A::kBytes >> 4), b + at.stage * (B::kBytes >> 4));
    if (cfg.in_turns) Turns::pass_to(1 - consumer);
    ptx::wgmma_wait_group<0>();
    chain.pin();
    ring.release(at.stage, schedule::ClusterPlace<OutputTile{1, 1}>{0, 0});
    promote(master, chain);
  }
}

// Stores a warp's sums to its 16 rows of D, from (row, column) on. Returns while the copy of the
// last panel is still running.
template <Config cfg>
__device__ void store(typename Types<cfg>::Panels& panels, typename Types<cfg>::Sums& sums,
                      const Params& p, int row, int column) {
  constexpr auto kOut = ElementType::kF32;
  epilogue::scale_back(sums, p.gemm, p.exponents_a, p.exponents_b, row, column);
  epilogue::PanelsOfC<kOut, cfg.block.n, 1, typename Types<cfg>::Sums> c(panels, p.gemm, row,
                                                                         column);
  c.start();
  epilogue::ScaledSums op;
  epilogue::store_by_tma<kOut>(panels, sums, c.add_to(sums), {p.d_map, p.copied_columns, 0, false},
                               row, column, op);
}

template <Config cfg, class Visit>
__device__ void for_each_tile(const Params& p, Visit visit) {
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    const tile::Coord<> at = p.raster[tile];
    visit(tile::Coord<>{at.m * cfg.block.m, at.n * cfg.block.n});
  }
}

// The producer: one thread loads all k tiles of the CTA's tiles.
template <Config cfg>
__device__ void load_tiles(typename Types<cfg>::Ring& ring, const Params& p) {
  using LoadA = copy::TmaTile<typename Types<cfg>::A, 1>;
  using LoadB = copy::TmaTile<typename Types<cfg>::B, 1>;
  typename Types<cfg>::Position at;
  for_each_tile<cfg>(p, [&](tile::Coord<> corner) {
    mainloop::load_tiles<LoadA, LoadB, 2, false>(ring, at, p.a_map, p.b_map, corner, 0, p.chains,
                                                 {{0, 1}, {0, 1}}, {0, 0});
  });
}

// A consumer multiplies and stores its rows of the CTA's tiles.
template <Config cfg>
__device__ void multiply_tiles(typename Types<cfg>::Shared& shared, const Params& p, int consumer) {
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int first_row = consumer * cfg.rows() + warp * epilogue::kWarpRows;
  typename Types<cfg>::Position at;
  typename Types<cfg>::Sums master;
  bool waits = consumer == 1;
  for_each_tile<cfg>(p, [&](tile::Coord<> corner) {
    multiply_tile<cfg>(master, shared.ring, at, p, consumer, waits);
    store<cfg>(shared.panels[4 * consumer + warp], master, p, corner.m + first_row, corner.n);
  });
  if (cfg.in_turns && consumer == 0) Turns::wait(0);  // the last turn, which it does not use
  if (ptx::elect_one()) ptx::bulk_wait_group<0>();
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg) && sizeof(typename Types<cfg>::Shared) <= cfg.shared_bytes());
  if (p.chains == 0) return epilogue::store_without_sums<ElementType::kF32>(p.gemm);
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<typename Types<cfg>::Shared*>(memory);
  if (threadIdx.x == 0) {
    shared.ring.init(4 * cfg.kConsumers);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  // WHY the shuffle: the compiler must know that `warp` is the same in all lanes.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp < 4) {
    ptx::release_registers_to<cfg.kProducerRegisters>();
    if (warp == 0 && ptx::elect_one()) load_tiles<cfg>(shared.ring, p);
  } else {
    ptx::acquire_registers_up_to<cfg.kConsumerRegisters>();
    multiply_tiles<cfg>(shared, p, warp / 4 - 1);
  }
}

}  // namespace tessera::two_halves
