// Candidates for the promoting main loop, on planes that hold random numbers: which of them keeps
// the tensor cores as busy as a plain product of three times the k does? A chain is 64 of k: twelve
// wgmma of k 16, the products with a low plane first. Then its sums are added to master sums by
// ordinary adds. Stages are 32 of k, so that a row of both planes is the 128 bytes of a swizzle.
//
//   one chain    128x192: 96 master sums and a chain of 96 a thread. While one warpgroup promotes,
//                the other one's chain keeps the tensor cores busy
//   in turns     the same, and the warpgroups start their chains one after the other
//   two chains   A in registers, N in parts: while one part is promoted, the next one multiplies.
//                128x192 in parts of 96, 128x256 in parts of 64
#include "kernels/mainloop/wgmma.h"
#include "kernels/pipeline/turns.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/ldmatrix.h"
#include "kernels/ptx/registers.h"
#include "kernels/ptx/wgmma_n128.h"
#include "kernels/ptx/wgmma_n192.h"
#include "kernels/ptx/wgmma_n64.h"
#include "kernels/ptx/wgmma_n96.h"
#include "tools/calibrate/promoted/params.h"

namespace tessera::promoted {

constexpr auto kType = ptx::MatrixType::kF16;
constexpr auto kMajor = ptx::Major::kK;

template <int m_, int n_, int stages_>
struct Shape {
  static constexpr int kM = m_, kN = n_, kRows = 64;  // of a warpgroup
  using A = tile::SharedTile<kType, m_, 64, kMajor>;  // (m, 32 high and 32 low)
  using B = tile::SharedTile<kType, n_, 64, kMajor>;
  using Ring = pipeline::MbarrierRing<A, B, stages_>;
  using Position = pipeline::Position<stages_>;
};

// Descriptor steps of the planes: k 0 and 16 of each.
constexpr int kHigh = 0, kLow = 32;

template <class T>
__device__ void load_all(typename T::Ring& ring, const Params& p) {
  typename T::Position at;
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    const tile::Coord<> c = p.raster[tile];
    mainloop::load_tiles<copy::TmaTile<typename T::A, 1>, copy::TmaTile<typename T::B, 1>, 2,
                         false>(ring, at, p.a_map, p.b_map, {c.m * T::kM, c.n * T::kN}, 0, p.stages,
                                {{0, 1}, {0, 1}}, {0, 0});
  }
}

template <int n, int parts>
struct Master {
  float sum[parts][n / 2];
  __device__ void clear() {
#pragma unroll
    for (int part = 0; part < parts; ++part) {
#pragma unroll
      for (int i = 0; i < n / 2; ++i) sum[part][i] = 0;
    }
  }
  __device__ void add(int part, const float (&chain)[n / 2]) {
#pragma unroll
    for (int i = 0; i < n / 2; ++i) sum[part][i] += chain[i];
  }
  // Row-major D, two neighbours at a time.
  __device__ void store(const Params& p, int row, int column) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
#pragma unroll
      for (int i = 0; i < n / 2; i += 2) {
        const int r = row + 16 * warp + lane / 4 + 8 * (i / 2 % 2);
        const int c = column + part * n + 8 * (i / 4) + 2 * (lane % 4);
        *reinterpret_cast<float2*>(p.d + r * p.ldd + c) = {sum[part][i], sum[part][i + 1]};
      }
    }
  }
};

// Two products of k 16 each: of one plane of A with one of B, both in shared memory.
template <class T, int a_plane, int b_plane, int count>
__device__ void multiply_planes(float (&chain)[count], std::uint64_t a, std::uint64_t b,
                                bool first) {
#pragma unroll
  for (int k = 0; k < 32; k += 16) {
    ptx::wgmma<kType, kMajor, kMajor>(chain, a + T::A::step(0, a_plane + k),
                                      b + T::B::step(0, b_plane + k), k > 0 || !first);
  }
}

template <class T, bool in_turns>
__device__ void one_chain(typename T::Ring& ring, const Params& p, int consumer) {
  typename T::Position at;
  Master<T::kN, 1> master;
  float chain[T::kN / 2];
  const std::uint64_t a =
      T::A::descriptor(ptx::shared_address(ring.a)) + T::A::step(consumer * T::kRows, 0);
  const std::uint64_t b = T::B::descriptor(ptx::shared_address(ring.b));
  bool waits = consumer == 1;
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    master.clear();
    for (int stage = 0; stage < p.stages; stage += 2) {
      const typename T::Position first = at;
      at.advance();
      const typename T::Position second = at;
      at.advance();
      const std::uint64_t a0 = a + first.stage * (T::A::kBytes >> 4);
      const std::uint64_t b0 = b + first.stage * (T::B::kBytes >> 4);
      const std::uint64_t a1 = a + second.stage * (T::A::kBytes >> 4);
      const std::uint64_t b1 = b + second.stage * (T::B::kBytes >> 4);
      if (in_turns && waits) pipeline::Turns::wait(consumer);
      waits = true;
      ring.wait(first);
      ptx::pin(chain);
      ptx::wgmma_fence();
      multiply_planes<T, kLow, kHigh>(chain, a0, b0, true);
      multiply_planes<T, kHigh, kLow>(chain, a0, b0, false);
      ring.wait(second);
      multiply_planes<T, kLow, kHigh>(chain, a1, b1, false);
      multiply_planes<T, kHigh, kLow>(chain, a1, b1, false);
      multiply_planes<T, kHigh, kHigh>(chain, a0, b0, false);
      multiply_planes<T, kHigh, kHigh>(chain, a1, b1, false);
      ptx::wgmma_commit_group();
      if (in_turns) pipeline::Turns::pass_to(1 - consumer);
      ptx::wgmma_wait_group<0>();
      ptx::pin(chain);
      if (threadIdx.x % 32 == 0) {
        ptx::mbarrier_arrive(ring.tile_consumed[first.stage]);
        ptx::mbarrier_arrive(ring.tile_consumed[second.stage]);
      }
      master.add(0, chain);
    }
    const tile::Coord<> c = p.raster[tile];
    master.store(p, c.m * T::kM + consumer * T::kRows, c.n * T::kN);
  }
  // The last turn that was passed on is taken; a CTA without a tile passed none.
  const bool had_tile = static_cast<int>(blockIdx.x) < p.raster.tiles();
  if (in_turns && consumer == 0 && had_tile) pipeline::Turns::wait(0);
}

// A of one warpgroup and both planes of two stages: 4 steps of k 16 each.
struct Fragments {
  std::uint32_t high[4][4], low[4][4];

  // `tile`: the stage's tile; `at`: the warpgroup's first row.
  template <class Tile>
  __device__ void load(const Tile& tile, int row, int half) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int r = row + 16 * warp + lane % 16;
    const unsigned char* const line = tile.bytes + r * tile::kRowBytes;
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const int of_high = 2 * step + lane / 16, of_low = 4 + of_high;
      ptx::ldmatrix(high[2 * half + step], line + (of_high ^ (r % 8)) * 16);
      ptx::ldmatrix(low[2 * half + step], line + (of_low ^ (r % 8)) * 16);
    }
  }
  __device__ void pin() {
#pragma unroll
    for (int i = 0; i < 4; ++i) ptx::pin(high[i]), ptx::pin(low[i]);
  }
};

// The twelve products of a part of N, all of 64 of k.
template <class T, int count>
__device__ void multiply_part(float (&chain)[count], const Fragments& a, std::uint64_t b0,
                              std::uint64_t b1) {
  ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t b = (step < 2 ? b0 : b1) + T::B::step(0, step % 2 * 16);
    ptx::wgmma<kType, kMajor>(chain, a.low[step], b + T::B::step(0, kHigh), step > 0);
    ptx::wgmma<kType, kMajor>(chain, a.high[step], b + T::B::step(0, kLow), true);
  }
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t b = (step < 2 ? b0 : b1) + T::B::step(0, step % 2 * 16);
    ptx::wgmma<kType, kMajor>(chain, a.high[step], b + T::B::step(0, kHigh), true);
  }
  ptx::wgmma_commit_group();
}

template <class T, int part_n>
__device__ void two_chains(typename T::Ring& ring, const Params& p, int consumer) {
  constexpr int kParts = T::kN / part_n;
  static_assert(kParts % 2 == 0);
  typename T::Position at;
  Master<part_n, kParts> master;
  float chain[2][part_n / 2];
  Fragments a;
  const int row = consumer * T::kRows;
  const std::uint64_t b = T::B::descriptor(ptx::shared_address(ring.b));
  for (int tile = blockIdx.x; tile < p.raster.tiles(); tile += gridDim.x) {
    master.clear();
#pragma unroll 1
    for (int stage = 0; stage < p.stages; stage += 2) {
      const int first = at.stage;
      ring.wait(at);
      a.load(ring.a[first], row, 0);
      at.advance();
      const int second = at.stage;
      ring.wait(at);
      a.load(ring.a[second], row, 1);
      at.advance();
      const std::uint64_t b0 = b + first * (T::B::kBytes >> 4);
      const std::uint64_t b1 = b + second * (T::B::kBytes >> 4);
      a.pin();
      ptx::pin(chain[0]);
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        ptx::pin(chain[part % 2]);
        multiply_part<T>(chain[part % 2], a, b0 + T::B::step(part * part_n, 0),
                         b1 + T::B::step(part * part_n, 0));
        if (part == 0) continue;
        ptx::wgmma_wait_group<1>();
        ptx::pin(chain[(part - 1) % 2]);
        master.add(part - 1, chain[(part - 1) % 2]);
      }
      ptx::wgmma_wait_group<0>();
      ptx::pin(chain[(kParts - 1) % 2]);
      a.pin();
      if (threadIdx.x % 32 == 0) {
        ptx::mbarrier_arrive(ring.tile_consumed[first]);
        ptx::mbarrier_arrive(ring.tile_consumed[second]);
      }
      master.add(kParts - 1, chain[(kParts - 1) % 2]);
    }
    const tile::Coord<> c = p.raster[tile];
    master.store(p, c.m * T::kM + row, c.n * T::kN);
  }
}

template <class T, int producer_registers, int consumer_registers, class Multiply>
__device__ void part_roles(const Params& p, Multiply multiply) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename T::Ring*>(memory);
  if (threadIdx.x == 0) {
    ring.init(4 * 2);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp < 4) {
    ptx::release_registers_to<producer_registers>();
    if (warp == 0 && ptx::elect_one()) load_all<T>(ring, p);
  } else {
    ptx::acquire_registers_up_to<consumer_registers>();
    multiply(ring, warp / 4 - 1);
  }
}

}  // namespace tessera::promoted

using tessera::promoted::Params;
namespace promoted = tessera::promoted;

#define TESSERA_ENTRY(name) \
  extern "C" __global__ __launch_bounds__(384, 1) void name(const __grid_constant__ Params p)

TESSERA_ENTRY(one_chain_128x192) {
  using T = promoted::Shape<128, 192, 5>;
  promoted::part_roles<T, 40, 232>(
      p, [&](T::Ring& ring, int c) { promoted::one_chain<T, false>(ring, p, c); });
}
TESSERA_ENTRY(in_turns_128x192) {
  using T = promoted::Shape<128, 192, 5>;
  promoted::part_roles<T, 40, 232>(
      p, [&](T::Ring& ring, int c) { promoted::one_chain<T, true>(ring, p, c); });
}
TESSERA_ENTRY(two_chains_128x192) {
  using T = promoted::Shape<128, 192, 5>;
  promoted::part_roles<T, 24, 240>(
      p, [&](T::Ring& ring, int c) { promoted::two_chains<T, 96>(ring, p, c); });
}
TESSERA_ENTRY(two_chains_128x256) {
  using T = promoted::Shape<128, 256, 4>;
  promoted::part_roles<T, 24, 240>(
      p, [&](T::Ring& ring, int c) { promoted::two_chains<T, 64>(ring, p, c); });
}
