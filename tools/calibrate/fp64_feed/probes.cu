// Ways to feed the FP64 tensor cores if both operands lie along k (TN of a column-major caller).
// The library is slowest there: at 4096 it takes 2.43 ms and the vendor's library 2.26 ms, and at
// 16384 it has 0.80 of the vendor's speed (H200, results/tensor/f64.json,
// results/tensor/f64_16384.json). Are loads of fragments the limit, or the copies to shared memory?
//
//   present          the library's main loop: all threads copy by cp.async. A is loaded 64 bits at
//                    once, with 2-way bank conflicts, and B 128 bits at once
//   threads_singles  the same copies; both are loaded 64 bits at once, without conflicts
//   threads_pairs    the same copies; both are loaded 128 bits at once, and A is moved into place
//   copied_*         one thread starts tensor copies, and each stage has barriers of its own; loads
//                    as in present (mixed), threads_singles and threads_pairs
//   shared_*         the same; clusters of two CTAs share B (128x128) or A (128x64) by multicast
//
// The machine code of a main loop (nvcc 13.0), for one warp and one stage of 16 k, without NOP and
// instructions that never run. Each loop has 32 DMMA. Passes of shared memory: lanes.h.
//
//                     instructions     LDS.64  LDS.128  passes  moves of 32 bits  LDGSTS
//                     128x128  128x64
//   present               124     135      16       16     128              3, 4   8, 12
//   threads_singles       131     147      48        0      96                 4   8, 12
//   threads_pairs         144     152       0       24      96            34, 35   8, 12
//   copied_mixed          100     102      16       16     128                 2       0
//   copied_singles        121     120      48        0      96                 2       0
//   copied_pairs          120     122       0       24      96                34       0
//   shared_singles        122     129      48        0      96              1, 2       0
//   shared_pairs          121     147       0       24      96            33, 50       0

// Prediction for 132 SMs at 1980 MHz. Per stage of 128x128, the DMMA of an SM take 2048 cycles, 32
// each per sub-core. Shared memory takes 1280 cycles in present, and 1024 with 96 passes per warp;
// a fifth to a quarter are writes by copies. A sub-core issues about 250 instructions. L2 sends 16
// bytes per cycle to each SM (24 for 128x64); if two CTAs share, 12 (16). By these counts none of
// them is a limit; waits may be.
//
// The floor at 4096 is 2.05 ms at 66.9 TFLOP/s, and 2.12 ms with a last wave that is not full: the
// schedule of all probes is static. Expected there:
//
//   present                          2.45 ms
//   threads_singles, threads_pairs   2.33: as fast as NN, whose loads have no conflicts
//   copied_mixed                     2.42
//   copied_singles, copied_pairs     2.29
//   shared_*                         as copied_* at 4096; 3 % faster at 16384
//   128x64                           within 2 % of 128x128
//
// If no probe beats present by 3 %, neither loads nor copies are the limit.
//
// What came: present 2.31, threads_* 2.30 to 2.35, copied_* 2.22 to 2.23, shared_* 2.23 to 2.24; at
// 8192 shared_* are 1 % faster than copied_*. So copies are the limit, and loads are not. `present`
// was the main loop of commit 7471378a; today's loads as threads_singles does, with other lanes.
#include "kernels/families/dmma/kernel.cu"
#include "kernels/mainloop/wgmma.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/registers.h"
#include "kernels/schedule/tile_walk.h"
#include "tools/calibrate/fp64_feed/lanes.h"
#include "tools/calibrate/fp64_feed/params.h"

namespace tessera::fp64_feed {

// Widths of loads of fragments: 64 bits; 64 of A and 128 of B; 128 bits.
enum class Loads { kSingles, kMixed, kPairs };

constexpr OutputTile kWarp{32, 64};
constexpr int kDepth = 16;  // k of a stage

// (outer, k), rows along k with the swizzle of tensor copies; the names are those of both rings.
struct CopySwizzle {
  static constexpr int of(int row, bool) { return row % 8; }
};
template <int outer>
struct alignas(1024) Tile : tile::SwizzledTile<double, outer, kDepth, Major::kK, CopySwizzle> {
  static constexpr bool kKMajor = true;
  static constexpr int kPanels = 1;
};

template <int m_, int n_, int stages_, Loads loads_, OutputTile cluster_ = OutputTile{1, 1}>
struct Shape {
  static constexpr BlockTile kBlock{m_, n_, kDepth};
  static constexpr int kStages = stages_;
  static constexpr Loads kLoads = loads_;
  static constexpr OutputTile kWarps{m_ / kWarp.m, n_ / kWarp.n};
  static constexpr int kConsumers = kWarps.m * kWarps.n;  // warps
  using A = Tile<m_>;
  using B = Tile<n_>;
  using Ring = pipeline::MbarrierRing<A, B, stages_>;
  using Position = pipeline::Position<stages_>;
  using LoadA = copy::TmaTile<A, cluster_.n>;
  using LoadB = copy::TmaTile<B, cluster_.m>;
  using Walk = schedule::TileWalk<cluster_>;
  static constexpr bool kIsCluster = Walk::Place::kSize > 1;
};

// Returns x in other registers. WHY: DMMA's A has two rows of one k side by side, and a 128-bit
// load two k of one row. ptxas gathers A anew for each instruction that reads it, 200 moves per
// stage; the result of a PRMT, which leaves all bytes in place, is gathered once, by 32.
__device__ inline double moved(double x) {
  const std::uint32_t in_place = ptx::kept_in_register(0x3210);
  const auto move = [&](int word) { return static_cast<int>(__byte_perm(word, word, in_place)); };
  return __hiloint2double(move(__double2hiint(x)), move(__double2loint(x)));
}

// `count` groups of sixteen rows of A or columns of B, eight k: x[group][half][step].
template <class Lanes, bool by_pairs, bool of_a, int count>
struct Fragments {
  double x[count][2][2];

  __device__ void load(const unsigned char* tile, int lane_offset, int first, int eight) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        double(&to)[2] = x[i][half];
        const auto at = [&](int step) {
          return tile + offset<Lanes>(lane_offset, first + i, half, eight, step);
        };
        if constexpr (by_pairs) {
          const double2 two = *reinterpret_cast<const double2*>(at(0));
          to[0] = two.x, to[1] = two.y;
          if constexpr (of_a) to[0] = moved(to[0]), to[1] = moved(to[1]);
        } else {
          to[0] = ptx::load_shared_double(at(0)), to[1] = ptx::load_shared_double(at(1));
        }
      }
    }
  }
};

// The tiles of a ring that tensor copies fill.
template <class T>
struct CopiedFeed {
  static constexpr bool kLoadsBeyond = false;  // whether loads may follow the last tile
  typename T::Ring& ring;
  typename T::Position& at;
  typename T::Walk::Place place;

  __device__ const unsigned char* a() const { return ring.a[at.stage].bytes; }
  __device__ const unsigned char* b() const { return ring.b[at.stage].bytes; }
  template <bool more>
  __device__ void during(int, int) {}
  template <bool more>
  __device__ void advance() {
    __syncwarp();  // all lanes have read the stage
    ring.release(at.stage, place);
    at.advance();
    if (more) ring.wait(at);
  }
};
// The tiles of a ring that all threads fill.
template <class Ring>
struct ThreadsFeed {
  static constexpr bool kLoadsBeyond = true;
  Ring& ring;

  __device__ const unsigned char* a() const { return ring.current().a.bytes; }
  __device__ const unsigned char* b() const { return ring.current().b.bytes; }
  template <bool more>
  __device__ void during(int part, int parts) {
    if (more && part < parts - 1) ring.template start_next<true>(part, parts - 1);
    if (!more && part == 0) ring.start_nothing();
  }
  template <bool more>
  __device__ void advance() {
    ring.finish_next();
  }
};

// The sums of a warp, and the loop over stages.
template <class T>
class Multiplier {
 public:
  static constexpr bool kPairsA = T::kLoads == Loads::kPairs,
                        kPairsB = T::kLoads != Loads::kSingles;
  using Lanes = cuda::std::conditional_t<kPairsB, Pairs, Singles>;

  __device__ explicit Multiplier(tile::Coord<> warp)
      : at_a_(lane_offset<Lanes>(threadIdx.x % 32, warp.m * kWarp.m)),
        at_b_(lane_offset<Lanes>(threadIdx.x % 32, warp.n * kWarp.n)) {}

  template <class Feed>
  __device__ void begin(const Feed& feed) {
    sums_.clear();
    load(feed, 0);
  }
  // A stage is eight parts: two groups of eight k x four of sixteen columns. Fragments are loaded
  // one part ahead, the first ones of the next stage too if there are `more`.
  template <bool more, class Feed>
  __device__ void multiply_stage(Feed& feed) {
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      feed.template during<more>(i, kParts);
      if (i == kParts - 1) feed.template advance<more>();
      if (more || Feed::kLoadsBeyond || i < kParts - 1) load(feed, (i + 1) % kParts);
      sums_.template multiply_add<tile::Dmma::kM16N8K8>(i % kColumns, a_[i / kColumns], b_[i % 2]);
    }
  }
  // Stores the sums at `to`, the first element of the warp's outputs, two neighbours at a time.
  __device__ void store(double* to, long long d_row) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kWarp.m / 8; ++i) {
#pragma unroll
      for (int j = 0; j < kWarp.n / 8; ++j) {
        const double(&of)[2][4] = sums_.sum[i / 2][j / 2];
        const int row = i / 2 * kGroup + Lanes::outer(lane, i % 2);
        const int column = j / 2 * kGroup + Lanes::outer(lane % 4 * 8 + j % 2 * 4, 0);
        const int at = i % 2 * 2 + j % 2;
        *reinterpret_cast<double2*>(to + row * d_row + column) = {of[0][at], of[1][at]};
      }
    }
  }

 private:
  static constexpr int kColumns = kWarp.n / kGroup, kParts = kDepth / 8 * kColumns;

  template <class Feed>
  __device__ void load(const Feed& feed, int part) {
    b_[part % 2].load(feed.b(), at_b_, part % kColumns, part / kColumns);
    if (part % kColumns == 0) a_[part / kColumns].load(feed.a(), at_a_, 0, part / kColumns);
  }

  tile::DmmaAccumulators<kWarp.m, kWarp.n> sums_;
  int at_a_, at_b_;
  Fragments<Lanes, kPairsA, true, kWarp.m / kGroup> a_[2];
  Fragments<Lanes, kPairsB, false, 1> b_[2];
};

template <class T>
__device__ double* output_of(const Params& p, tile::Coord<> corner, tile::Coord<> warp) {
  return static_cast<double*>(p.gemm.d) + (corner.m + warp.m * kWarp.m) * p.gemm.d_row + corner.n +
         warp.n * kWarp.n;
}

template <class T>
__device__ void load_all(typename T::Ring& ring, const Params& p) {
  typename T::Position at;
  typename T::Walk walk(p.raster, p.products);
  const auto place = walk.place();
  const mainloop::Shares shares{{place.n, place.readers_of_a()}, {place.m, place.readers_of_b()}};
  for (; walk.valid(); walk.advance()) {
    mainloop::load_tiles<typename T::LoadA, typename T::LoadB, 2, true>(
        ring, at, p.a_map, p.b_map, walk.corner(T::kBlock), 0, p.k_tiles, shares, {0, 0});
  }
}

template <class T>
__device__ void multiply_all(typename T::Ring& ring, const Params& p) {
  const tile::Coord<> warp = tile::warp_coord(T::kWarps, threadIdx.x);
  typename T::Position at;
  typename T::Walk walk(p.raster, p.products);
  CopiedFeed<T> feed{ring, at, walk.place()};
  Multiplier<T> multiplier(warp);
  for (; walk.valid(); walk.advance()) {
    ring.wait(at);
    multiplier.begin(feed);
#pragma unroll 1
    for (int i = 1; i < p.k_tiles; ++i) multiplier.template multiply_stage<true>(feed);
    multiplier.template multiply_stage<false>(feed);
    multiplier.store(output_of<T>(p, walk.corner(T::kBlock), warp), p.gemm.d_row);
  }
}

// Tensor copies, started by one thread of the last warpgroup. The other warps multiply. HW: with a
// single warp for the copies, three warps of a sub-core share its 512 registers per lane: 168 each,
// and ptxas keeps sums in memory. A whole warpgroup can pass its registers on.
template <class T>
__device__ void copied(const Params& p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename T::Ring*>(memory);
  if (threadIdx.x == 0) {
    ring.init(T::kConsumers * T::Walk::Place::kPartners);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  const auto meet = [] {
    if constexpr (T::kIsCluster) ptx::cluster_sync();
    if constexpr (!T::kIsCluster) __syncthreads();
  };
  meet();
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp < T::kConsumers) {
    ptx::acquire_registers_up_to<232>();
    multiply_all<T>(ring, p);
  } else {
    ptx::release_registers_to<T::kConsumers == 4 ? 24 : 40>();
    if (warp == T::kConsumers && ptx::elect_one()) load_all<T>(ring, p);
  }
  __syncwarp();
  meet();  // other CTAs of the cluster arrive at this one's barriers until now
}

template <class T>
struct Stage {
  static constexpr int kDepth = fp64_feed::kDepth;
  typename T::A a;
  typename T::B b;
};

// The library's ring, filled by all threads with cp.async, and the loads of this probe.
template <class T>
__device__ void by_threads(const Params& p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  using CopyA = copy::SwizzledTileCopy<typename T::A, 32 * T::kConsumers>;
  using CopyB = copy::SwizzledTileCopy<typename T::B, 32 * T::kConsumers>;
  using Stage = fp64_feed::Stage<T>;
  using Ring = pipeline::CpAsyncRing<Stage, CopyA, CopyB, T::kStages, pipeline::Beyond::kNothing>;
  const tile::Coord<> warp = tile::warp_coord(T::kWarps, threadIdx.x);
  Multiplier<T> multiplier(warp);
  for (typename T::Walk walk(p.raster, p.products); walk.valid(); walk.advance()) {
    const tile::Coord<> corner = walk.corner(T::kBlock);
    Ring ring(reinterpret_cast<Stage*>(memory),
              CopyA(copy::operand_a<double, Major::kK>(p.gemm), corner.m, 0),
              CopyB(copy::operand_b<double, Major::kK>(p.gemm), corner.n, 0), p.gemm.k);
    ThreadsFeed<Ring> feed{ring};
    multiplier.begin(feed);
#pragma unroll 1
    while (ring.has_next()) multiplier.template multiply_stage<true>(feed);
#pragma unroll 1
    while (ring.has_tile()) multiplier.template multiply_stage<false>(feed);
    ring.drain();
    multiplier.store(output_of<T>(p, corner, warp), p.gemm.d_row);
  }
}

// The library's kernel, with the schedule of the other probes.
template <dmma_f64::Config cfg>
__device__ void present(const Params& p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto* const stages = reinterpret_cast<dmma_f64::Stage<cfg>*>(memory);
  const tile::Coord<> warp = tile::warp_coord(cfg.warp_grid(), threadIdx.x);
  for (schedule::TileWalk<OutputTile{1, 1}> walk(p.raster, p.products); walk.valid();
       walk.advance()) {
    const tile::Coord<> corner = walk.corner(cfg.block);
    schedule::Work work{};
    work.tile_m = corner.m / cfg.block.m, work.tile_n = corner.n / cfg.block.n;
    work.k_end = p.k_tiles, work.slot = -1;
    dmma_f64::Accumulators<cfg> sums;
    sums.clear();
    dmma_f64::multiply<cfg>(sums, stages, p.gemm, work, warp);
    dmma_f64::store<cfg>(p.gemm, nullptr, work, warp, sums);
  }
}

}  // namespace tessera::fp64_feed

using namespace tessera::fp64_feed;
using tessera::OutputTile;

#define TESSERA_ENTRY(name, threads, ctas)                          \
  extern "C" __global__ __launch_bounds__(threads, ctas) void name( \
      const __grid_constant__ tessera::fp64_feed::Params p)

// 128x128: one CTA per SM.
TESSERA_ENTRY(present_128x128, 256, 1) { present<tessera::dmma_f64::kSm90[2].config>(p); }
TESSERA_ENTRY(threads_singles_128x128, 256, 1) {
  by_threads<Shape<128, 128, 6, Loads::kSingles>>(p);
}
TESSERA_ENTRY(threads_pairs_128x128, 256, 1) { by_threads<Shape<128, 128, 6, Loads::kPairs>>(p); }
TESSERA_ENTRY(copied_mixed_128x128, 384, 1) { copied<Shape<128, 128, 7, Loads::kMixed>>(p); }
TESSERA_ENTRY(copied_singles_128x128, 384, 1) { copied<Shape<128, 128, 7, Loads::kSingles>>(p); }
TESSERA_ENTRY(copied_pairs_128x128, 384, 1) { copied<Shape<128, 128, 7, Loads::kPairs>>(p); }
TESSERA_ENTRY(shared_singles_128x128, 384, 1) {
  copied<Shape<128, 128, 7, Loads::kSingles, OutputTile{2, 1}>>(p);
}
TESSERA_ENTRY(shared_pairs_128x128, 384, 1) {
  copied<Shape<128, 128, 7, Loads::kPairs, OutputTile{2, 1}>>(p);
}

// 128x64: two CTAs per SM.
TESSERA_ENTRY(present_128x64, 128, 2) { present<tessera::dmma_f64::kSm90[6].config>(p); }
TESSERA_ENTRY(threads_singles_128x64, 128, 2) { by_threads<Shape<128, 64, 4, Loads::kSingles>>(p); }
TESSERA_ENTRY(threads_pairs_128x64, 128, 2) { by_threads<Shape<128, 64, 4, Loads::kPairs>>(p); }
TESSERA_ENTRY(copied_mixed_128x64, 256, 2) { copied<Shape<128, 64, 4, Loads::kMixed>>(p); }
TESSERA_ENTRY(copied_singles_128x64, 256, 2) { copied<Shape<128, 64, 4, Loads::kSingles>>(p); }
TESSERA_ENTRY(copied_pairs_128x64, 256, 2) { copied<Shape<128, 64, 4, Loads::kPairs>>(p); }
TESSERA_ENTRY(shared_singles_128x64, 256, 2) {
  copied<Shape<128, 64, 4, Loads::kSingles, OutputTile{1, 2}>>(p);
}
TESSERA_ENTRY(shared_pairs_128x64, 256, 2) {
  copied<Shape<128, 64, 4, Loads::kPairs, OutputTile{1, 2}>>(p);
}
