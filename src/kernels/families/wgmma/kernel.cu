// Products on Hopper's tensor cores. One warp loads tiles of A and B into a ring in shared memory
// by tensor copies, warpgroups multiply from it with wgmma, and each warp stores its sums by tensor
// copies that go on while the next tile is multiplied. The grid is persistent.
#include "kernels/epilogue/activation_and_x.h"
#include "kernels/epilogue/add_c.h"
#include "kernels/epilogue/bias_and_activation.h"
#include "kernels/epilogue/store_pairs.h"
#include "kernels/epilogue/store_tma.h"
#include "kernels/families/wgmma/config.h"
#include "kernels/families/wgmma/params.h"
#include "kernels/mainloop/wgmma.h"
#include "kernels/passes/reduce_parts.h"
#include "kernels/passes/repack.h"
#include "kernels/passes/repack_bytes.h"
#include "kernels/passes/repack_halves.h"
#include "kernels/pipeline/turns.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/registers.h"
#include "kernels/ptx/wgmma_n128.h"
#include "kernels/ptx/wgmma_n192.h"
#include "kernels/ptx/wgmma_n256.h"
#include "kernels/ptx/wgmma_n32.h"
#include "kernels/ptx/wgmma_n64.h"
#include "kernels/schedule/listed.h"
#include "kernels/schedule/tile_walk.h"

namespace tessera::wgmma {

using Corner = tile::Coord<>;

// Types and constants that follow from a config.
template <Config cfg>
struct Types {
  static constexpr ptx::Major kMajorA = cfg.a_along_k() ? ptx::Major::kK : ptx::Major::kMn;
  static constexpr ptx::Major kMajorB = cfg.b_along_k() ? ptx::Major::kK : ptx::Major::kMn;
  using TileA = tile::SharedTile<cfg.in, cfg.block.m, cfg.block.k, kMajorA>;  // (m, k)
  using TileB = tile::SharedTile<cfg.in, cfg.block.n, cfg.block.k, kMajorB>;  // (n, k)
  using Ring = pipeline::MbarrierRing<TileA, TileB, cfg.stages>;
  using Position = pipeline::Position<cfg.stages>;
  using LoadA = copy::TmaTile<TileA, cfg.cluster.n>;
  using LoadB = copy::TmaTile<TileB, cfg.cluster.m>;
  using Sums = tile::Accumulators<cfg.rows(), cfg.block.n, epilogue::SumOf<cfg.out>>;
  using Panels = epilogue::StorePanels<cfg.out, cfg.block.n, cfg.store_buffers>;
  using Walk = schedule::TileWalk<cfg.cluster>;
  // Warpgroups that read each stage.
  static constexpr int kReaders = cfg.mode == Consumers::kTogether ? cfg.consumers : 1;

  struct Shared {
    Ring ring;
    Panels panels[cfg.store == Store::kTma ? 4 * cfg.consumers : 1];  // one per warp
  };
};

// The producer: one thread loads all tiles of the CTA. `rank`: the rank of the tensor maps.
template <Config cfg, int rank>
__device__ void load_all(typename Types<cfg>::Shared& shared, const WgmmaParams& p) {
  using T = Types<cfg>;
  typename T::Position at;
  typename T::Walk walk(p.raster, p.products);
  const auto place = walk.place();
  const mainloop::Shares shares{{place.n, place.readers_of_a()}, {place.m, place.readers_of_b()}};
  for (; walk.valid(); walk.advance()) {
    const Corner corner = walk.corner(cfg.block);
    const int part = corner.m / p.rows_per_k_part;
    const int product = rank == 3 ? walk.product() : 0;
    mainloop::load_tiles<typename T::LoadA, typename T::LoadB, rank, cfg.a_from_registers()>(
        shared.ring, at, p.a_map, p.b_map, {corner.m - part * p.rows_per_k_part, corner.n},
        part * p.k_tiles, p.k_tiles, shares, {product * p.product_a, product * p.product_b});
  }
}

// Makes a tensor map that an earlier launch has written usable, and fetches it.
__device__ inline void acquire_map(const TensorMap& map) {
  ptx::fence_tensormap_acquire(&map);
  ptx::prefetch_tensor_map(map);
}

// Like load_all(), for matrices at listed addresses: each product has maps of its own. This thread
// also acquires the maps of D, for warps that store a tile after it has arrived. WHY not each warp
// its own: a map that is acquired is dropped from the SM (UTMACCTL.IV), and must be fetched again.
template <Config cfg>
__device__ void load_listed(typename Types<cfg>::Shared& shared, const WgmmaParams& p) {
  using T = Types<cfg>;
  constexpr int kTilesAhead = 2;
  typename T::Position at;
  typename T::Walk walk(p.raster, p.products), ahead(walk);
  const mainloop::Shares shares{{0, 1}, {0, 1}};
  const auto acquire_next = [&] {
    if (!ahead.valid()) return;
    const TensorMap* const a = p.listed_maps + ahead.product();
    acquire_map(a[0]);
    acquire_map(a[p.products]);
    if (p.copied_columns > 0) acquire_map(a[2LL * p.products]);
    ahead.advance();
  };
  for (int i = 0; i < kTilesAhead; ++i) acquire_next();
  for (; walk.valid(); walk.advance()) {
    acquire_next();
    const TensorMap* const a = p.listed_maps + walk.product();
    mainloop::load_tiles<typename T::LoadA, typename T::LoadB, 2, cfg.a_from_registers()>(
        shared.ring, at, *a, a[p.products], walk.corner(cfg.block), 0, p.k_tiles, shares, {0, 0});
  }
}

// The position of a tile of D.
struct Output {
  Corner corner;
  int product;
};

// Whether this call's matrices are at listed addresses. Configs that take no lists have no code.
template <Config cfg>
__device__ bool is_listed(const WgmmaParams& p) {
  return cfg.takes_lists() && p.listed_maps != nullptr;
}

__device__ inline const TensorMap& listed_map_of_d(const WgmmaParams& p, int product) {
  return p.listed_maps[2LL * p.products + product];
}
template <Config cfg>
__device__ epilogue::MatrixD matrix_of(const WgmmaParams& p, int product) {
  if (is_listed<cfg>(p)) return {listed_map_of_d(p, product), p.copied_columns, 0, false};
  return {p.d_map, p.copied_columns, product, p.products > 1};
}
template <Config cfg>
__device__ GemmParams gemm_of(const WgmmaParams& p, int product) {
  GemmParams gemm = p.gemm;
  long long to_c = product * p.product_c, to_d = product * p.product_d;
  if (is_listed<cfg>(p)) {
    if (gemm.beta != 0) to_c = schedule::distance_of_listed(gemm.c, product);
    to_d = schedule::distance_of_listed(gemm.d, product);
  }
  gemm.c = static_cast<const char*>(gemm.c) + to_c;
  gemm.d = static_cast<char*>(gemm.d) + to_d;
  return gemm;
}

template <Config cfg>
__device__ int first_row_of_warp(const Output& to, int consumer) {
  const int warp = threadIdx.x / 32 % 4, rows = cfg.a_from_registers() ? 32 : epilogue::kWarpRows;
  return to.corner.m + warp * rows + (cfg.mode == Consumers::kTogether ? consumer * cfg.rows() : 0);
}

template <Config cfg>
using PanelsOfC =
    epilogue::PanelsOfC<cfg.out, cfg.block.n, cfg.store_buffers, typename Types<cfg>::Sums>;

// Starts to load C for the tile's first panels, while the tensor cores multiply.
template <Config cfg>
__device__ void start_c(typename Types<cfg>::Shared& shared, const WgmmaParams& p, const Output& to,
                        int consumer) {
  if constexpr (cfg.store == Store::kTma && !cfg.a_from_registers()) {
    const GemmParams gemm = gemm_of<cfg>(p, to.product);
    PanelsOfC<cfg>(shared.panels[consumer * 4 + threadIdx.x / 32 % 4], gemm,
                   first_row_of_warp<cfg>(to, consumer), to.corner.n)
        .start();
  }
}

// Stores a tile that was multiplied with A from registers. D may be the transposed product.
template <Config cfg>
__device__ void store_fragments(typename Types<cfg>::Panels& panels, const WgmmaParams& p,
                                const Output& to, int row, typename Types<cfg>::Sums& sums) {
  GemmParams gemm = gemm_of<cfg>(p, to.product);
  const epilogue::MatrixD d = matrix_of<cfg>(p, to.product);
  if (p.transposed) {
    const Corner of_warp{to.corner.n, row};
    if (gemm.beta != 0) epilogue::add_c_to_transposed(sums, gemm, of_warp);
    epilogue::store_fragments_by_tma<true>(panels, sums, gemm, d, of_warp);
  } else {
    const Corner of_warp{row, to.corner.n};
    if (gemm.beta != 0) epilogue::add_c_to_fragments(sums, gemm, of_warp);
    epilogue::store_fragments_by_tma<false>(panels, sums, gemm, d, of_warp);
  }
}

template <Config cfg, class Op>
__device__ void store(typename Types<cfg>::Shared& shared, const WgmmaParams& p, const Output& to,
                      int consumer, typename Types<cfg>::Sums& sums, Op& op) {
  static_assert(Op::kIsPlain || (cfg.store == Store::kTma && !cfg.a_from_registers()));
  const int warp = threadIdx.x / 32 % 4;
  const int row = first_row_of_warp<cfg>(to, consumer);
  if constexpr (cfg.a_from_registers()) {
    store_fragments<cfg>(shared.panels[consumer * 4 + warp], p, to, row, sums);
  } else if constexpr (cfg.store == Store::kTma) {
    const GemmParams gemm = gemm_of<cfg>(p, to.product);
    auto& panels = shared.panels[consumer * 4 + warp];
    if constexpr (Op::kWritesX) op.product = to.product;
    PanelsOfC<cfg> c(panels, gemm, row, to.corner.n);
    epilogue::store_by_tma<cfg.out>(panels, sums, c.add_to(sums), matrix_of<cfg>(p, to.product),
                                    row, to.corner.n, op);
  } else {
    const GemmParams gemm = gemm_of<cfg>(p, to.product);
    if (gemm.beta == 0) {
      epilogue::store_directly<cfg.out, false, cfg.block.n>(sums, gemm, row, to.corner.n);
    } else {
      epilogue::store_directly<cfg.out, true, cfg.block.n>(sums, gemm, row, to.corner.n);
    }
  }
}

// Runs a consumer warpgroup. TRIED (H100, BF16, results/variants/h100_ending_bf16.json): of two
// warpgroups with the same tile, the first one ends three k tiles before the second, and stores
// while only the second one multiplies. Faster at 2048, not at 4096. With fewer k tiles than
// stages, the first one can be whole tiles ahead: it then arrives twice at the named barrier
// between them, and the second one waits for ever (found on the virtual GPU).
template <Config cfg, class Op>
__device__ void multiply_all(typename Types<cfg>::Shared& shared, const WgmmaParams& p,
                             int consumer, Op op) {
  using T = Types<cfg>;
  constexpr bool kPingPong = cfg.mode == Consumers::kPingPong;
  static_assert(!kPingPong || cfg.consumers == 2);
  typename T::Position at;
  typename T::Walk walk(p.raster, p.products);
  if (kPingPong && consumer == 1) {
    walk.advance();
    at.advance(p.k_tiles);
  }
  bool first = consumer == 0;  // no tile comes before the CTA's first one
  typename T::Sums sums;
  const int row = kPingPong ? 0 : consumer * cfg.rows();
  for (; walk.valid(); walk.advance(kPingPong ? 2 : 1)) {
    const bool passes_on = kPingPong && walk.has_next();
    if (kPingPong && !first) pipeline::Turns::wait(consumer);
    first = false;
    const auto release = [&](int stage) { shared.ring.release(stage, walk.place()); };
    const Output to{walk.corner(cfg.block), walk.product()};
    const auto under_way = [&] { start_c<cfg>(shared, p, to, consumer); };
    const auto last_started = [&] {
      if (passes_on) pipeline::Turns::pass_to(1 - consumer);
      op.prepare(first_row_of_warp<cfg>(to, consumer), to.corner.n);
    };
    if constexpr (cfg.a_from_registers()) {
      mainloop::multiply_tiles_from_registers<typename T::TileA, typename T::TileB>(
          sums, shared.ring, at, p.k_tiles, row, release, last_started);
    } else {
      mainloop::multiply_tiles<typename T::TileA, typename T::TileB>(
          sums, shared.ring, at, p.k_tiles, row, release, last_started, under_way);
    }
    store<cfg>(shared, p, to, consumer, sums, op);
    if (kPingPong) at.advance(p.k_tiles);
  }
  if (cfg.store == Store::kTma && ptx::elect_one()) ptx::bulk_wait_group<0>();
}

template <Config cfg, class Op>
__device__ void run_with(const WgmmaParams& p, const Op& op) {
  static_assert(is_legal(cfg));
  if (p.k_tiles == 0) {
    ptx::wait_for_prerequisites();
    if constexpr (Op::kWritesX) op.store_x_without_sums(p.gemm);
    return epilogue::store_without_sums<cfg.out>(p.gemm, op);
  }
  using T = Types<cfg>;
  static_assert(sizeof(typename T::Shared) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<typename T::Shared*>(memory);
  if (threadIdx.x == 32 && !is_listed<cfg>(p)) {
    ptx::prefetch_tensor_map(p.a_map);
    ptx::prefetch_tensor_map(p.b_map);
    if (cfg.store == Store::kTma && p.copied_columns > 0) ptx::prefetch_tensor_map(p.d_map);
  }
  if (threadIdx.x == 0) {
    shared.ring.init(4 * T::kReaders * T::Walk::Place::kPartners);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  if constexpr (cfg.ctas() > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }
  // TRIED (H100, BF16): the thread that initialises the barriers loads the CTA's first stages
  // before the __syncthreads(): a little faster with 128x256, slower with 64x128.
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  // HW: setmaxnreg applies to whole warpgroups. WHY the shuffle: the compiler must know that `warp`
  // is the same in all lanes, so that descriptors are in uniform registers.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp < 4) {
    ptx::release_registers_to<cfg.producer_registers>();
    if (warp == 0 && ptx::elect_one()) {
      if (is_listed<cfg>(p)) {
        load_listed<cfg>(shared, p);
      } else if (cfg.ctas() == 1 && p.products > 1) {
        load_all<cfg, cfg.ctas() == 1 ? 3 : 2>(shared, p);
      } else {
        load_all<cfg, 2>(shared, p);
      }
    }
  } else {
    ptx::acquire_registers_up_to<cfg.consumer_registers>();
    multiply_all<cfg>(shared, p, warp / 4 - 1, op);
  }
  // WHY a CTA must not exit early: other CTAs of its cluster still arrive at its barriers.
  if constexpr (cfg.ctas() > 1) {
    __syncwarp();
    ptx::cluster_sync();
  }
}

template <Config cfg>
__device__ void run(const WgmmaParams& p) {
  run_with<cfg>(p, epilogue::ScaledSums{});
}
template <Config cfg>
__device__ void run(const FusedParams& p) {
  run_with<cfg>(p.product, epilogue::BiasAndActivation<cfg.out, cfg.panel_columns()>(p.epilogue));
}
template <Config cfg>
__device__ void run(const FusedXParams& p) {
  run_with<cfg>(p.fused.product,
                epilogue::ActivationAndX<cfg.out, cfg.panel_columns()>(p.fused.epilogue, p.x));
}

// Passes before and after the product, as entries of this image.
using passes::reduce_parts, passes::repack, passes::repack_bytes, passes::repack_halves;

}  // namespace tessera::wgmma
