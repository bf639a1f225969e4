// C = A * B^T on Hopper, the way that fast kernels do it: a producer fills a ring of stages with
// tensor copies, two warpgroups of consumers multiply from it with wgmma, and the result leaves
// through shared memory by a tensor copy. In the multicast variant two CTAs of a cluster, one above
// the other, each load half of the B tile that both need.
//
// A is m x k and B n x k, bf16; C is m x n, f32; all row-major. Any sizes whose rows are multiples
// of 16 bytes: tensor copies fill with zeros what lies outside, and do not store it.
#include <cstdint>

#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/mbarrier.h"
#include "kernels/ptx/named_barrier.h"
#include "kernels/ptx/registers.h"
#include "kernels/ptx/tensor_copy.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/ptx/wgmma_descriptor.h"
#include "kernels/ptx/wgmma_n128.h"

namespace tessera::hopper_gemm {

using Bf16 = std::uint16_t;

constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 64;
constexpr int kStages = 4;
constexpr int kConsumers = 2;                     // warpgroups, 64 rows each
constexpr int kThreads = 128 * (1 + kConsumers);  // the first warpgroup produces
constexpr int kPanels = kBlockN / 32;             // C is staged in panels 128 bytes wide
constexpr std::uint32_t kStageBytes = (kBlockM + kBlockN) * kBlockK * sizeof(Bf16);

struct Shared {
  alignas(1024) Bf16 a[kStages][kBlockM * kBlockK];     // (m, k) x stage, 128-byte swizzle
  alignas(1024) Bf16 b[kStages][kBlockN * kBlockK];     // (n, k) x stage, 128-byte swizzle
  alignas(1024) float c[kConsumers][kPanels][64 * 32];  // (m, n) x panel, 128-byte swizzle
  ptx::Mbarrier tile_loaded[kStages], tile_consumed[kStages];
};

struct Maps {
  const ptx::TensorMap &a, &b, &c;
};

struct Size {
  int m, n, k;
  __device__ int k_tiles() const { return (k + kBlockK - 1) / kBlockK; }
};

struct Corner {
  int m, n;
};

struct RingPosition {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ void advance() {
    if (++stage < kStages) return;
    stage = 0;
    phase ^= 1;
  }
};

template <int kCtas>
__device__ void load_tiles(Shared& shared, const Maps& maps, Size size, Corner corner) {
  constexpr int kShareOfB = kBlockN / kCtas;  // rows of B that this CTA loads for all
  const int rank = kCtas == 1 ? 0 : static_cast<int>(ptx::cluster_rank());
  RingPosition ring;
  for (int tile = 0; tile < size.k_tiles(); ++tile, ring.advance()) {
    ptx::Mbarrier& loaded = shared.tile_loaded[ring.stage];
    const int k = tile * kBlockK;
    ptx::mbarrier_wait_parity_cluster(shared.tile_consumed[ring.stage], ring.phase ^ 1);
    ptx::mbarrier_arrive_expect_tx(loaded, kStageBytes);
    ptx::tensor_load(shared.a[ring.stage], maps.a, {k, corner.m}, loaded);
    if constexpr (kCtas == 1) {
      ptx::tensor_load(shared.b[ring.stage], maps.b, {k, corner.n}, loaded);
    } else {
      ptx::tensor_load_multicast(&shared.b[ring.stage][rank * kShareOfB * kBlockK], maps.b,
                                 {k, corner.n + rank * kShareOfB}, loaded, (1 << kCtas) - 1);
    }
  }
}

// This warp no longer reads the stage; every CTA that writes into it must know.
template <int kCtas>
__device__ void release(ptx::Mbarrier& consumed) {
  const int lane = threadIdx.x % 32;
  if (kCtas == 1 && lane == 0) ptx::mbarrier_arrive(consumed);
  if (kCtas > 1 && lane < kCtas) {
    ptx::mbarrier_arrive_cluster(*ptx::map_to_cta(&consumed, lane));
  }
}

template <int kCtas>
__device__ void multiply(Shared& shared, Size size, int consumer, float (&sum)[kBlockN / 2]) {
  constexpr std::uint64_t kStep = 32 >> 4;  // of a descriptor along k: one instruction is 32 bytes
  RingPosition ring, previous;
  for (int tile = 0; tile < size.k_tiles(); ++tile, ring.advance()) {
    ptx::mbarrier_wait_parity(shared.tile_loaded[ring.stage], ring.phase);
    const std::uint64_t a =
        ptx::wgmma_descriptor(&shared.a[ring.stage][consumer * 64 * kBlockK], ptx::kRowsOf128Bytes);
    const std::uint64_t b = ptx::wgmma_descriptor(shared.b[ring.stage], ptx::kRowsOf128Bytes);
    ptx::pin(sum);
    ptx::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kBlockK / 16; ++i) {
      ptx::wgmma<ptx::MatrixType::kBF16>(sum, a + i * kStep, b + i * kStep, tile > 0 || i > 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();  // the tile before is multiplied, this one may go on
    if (tile > 0) release<kCtas>(shared.tile_consumed[previous.stage]);
    previous = ring;
  }
  ptx::wgmma_wait_group<0>();
  ptx::pin(sum);
}

// Through shared memory, because a tensor copy clips the tile and writes whole lines.
__device__ void store_tile(Shared& shared, const Maps& maps, Corner corner, int consumer,
                           const float (&sum)[kBlockN / 2]) {
  const int thread = threadIdx.x % 128, lane = thread % 32;
#pragma unroll
  for (int i = 0; i < kBlockN / 2; i += 2) {
    const int row = thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    const int column = i / 4 * 8 + lane % 4 * 2;
    char* panel = reinterpret_cast<char*>(shared.c[consumer][column / 32]);
    const std::uint32_t offset = ptx::swizzle_128b(row * 128 + column % 32 * sizeof(float));
    *reinterpret_cast<float2*>(panel + offset) = make_float2(sum[i], sum[i + 1]);
  }
  ptx::fence_proxy_async_shared();
  ptx::barrier_sync(1 + consumer, 128);
  if (thread != 0) return;
  for (int panel = 0; panel < kPanels; ++panel) {
    ptx::tensor_store(maps.c, {corner.n + 32 * panel, corner.m + 64 * consumer},
                      shared.c[consumer][panel]);
  }
  ptx::bulk_commit_group();
  ptx::bulk_wait_group<0>();
}

template <int kCtas>
__device__ void gemm(const Maps& maps, Size size) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int tiles_m = (size.m + kBlockM * kCtas - 1) / (kBlockM * kCtas) * kCtas;
  const Corner corner{static_cast<int>(blockIdx.x) % tiles_m * kBlockM,
                      static_cast<int>(blockIdx.x) / tiles_m * kBlockN};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(shared.tile_loaded[stage], 1);
      ptx::mbarrier_init(shared.tile_consumed[stage], 4 * kConsumers * kCtas);  // a lane a warp
    }
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  if constexpr (kCtas == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync();
  }

  const int warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    ptx::release_registers_to<40>();
    if (threadIdx.x < 32 && ptx::elect_one()) load_tiles<kCtas>(shared, maps, size, corner);
  } else {
    ptx::acquire_registers_up_to<232>();
    float sum[kBlockN / 2];  // (64, 128) of the warpgroup
    multiply<kCtas>(shared, size, warpgroup - 1, sum);
    store_tile(shared, maps, corner, warpgroup - 1, sum);
  }
  if constexpr (kCtas > 1)
    ptx::cluster_sync();  // WHY: the other CTA still arrives at barriers here
}

}  // namespace tessera::hopper_gemm

using tessera::ptx::TensorMap;

extern "C" __global__ void __launch_bounds__(tessera::hopper_gemm::kThreads, 1)
    hopper_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                const __grid_constant__ TensorMap c, tessera::hopper_gemm::Size size) {
  tessera::hopper_gemm::gemm<1>({a, b, c}, size);
}

extern "C" __global__ void __cluster_dims__(2, 1,
                                            1) __launch_bounds__(tessera::hopper_gemm::kThreads, 1)
    hopper_gemm_multicast(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                          const __grid_constant__ TensorMap c, tessera::hopper_gemm::Size size) {
  tessera::hopper_gemm::gemm<2>({a, b, c}, size);
}
