// A ring of two stages, filled by a producer warp with bulk copies. The four warps of a warpgroup
// multiply each stage with wgmma, wait for it, and one thread gives the stage back for all of them.
// That is right as far as wgmma fetches, and wrong for what the warps read themselves.
#include <cuda_bf16.h>

#include <cstdint>

constexpr int kStages = 2, kTile = 1152;  // elements: 64 x 16 of A, 8 x 16 of B

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
__device__ void wait(std::uint64_t* barrier, int parity) {
  asm volatile(
      "{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra "
      "AGAIN;\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
__device__ void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
__device__ void init(std::uint64_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}
__device__ void copy_in(void* to, const void* from, std::uint64_t* full) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full)),
               "r"(2 * kTile)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(2 * kTile), "r"(shared_address(full))
      : "memory");
}
__device__ std::uint64_t descriptor(const void* p) {
  return shared_address(p) >> 4 | std::uint64_t{8} << 16 | std::uint64_t{16} << 32;
}
__device__ void multiply(float (&d)[4], const __nv_bfloat16* tile) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, "
      "0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor(tile)), "l"(descriptor(tile + 1024))
      : "memory");
}

// reads: the warps read a number of the stage themselves; all_arrive: each warp gives it back.
template <bool reads, bool all_arrive>
__global__ void ring(float* out, const __nv_bfloat16* tiles, int count) {
  __shared__ alignas(128) __nv_bfloat16 stage[kStages][kTile];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(full + s);
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(empty + s)),
                   "r"(all_arrive ? 128 : 1)
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x != 128) return;
    for (int t = 0; t < count; ++t) {
      wait(empty + t % kStages, (t / kStages + 1) % 2);
      copy_in(stage[t % kStages], tiles + t * kTile, full + t % kStages);
    }
    return;
  }
  float d[4] = {};
  float sum = 0;
  for (int t = 0; t < count; ++t) {
    wait(full + t % kStages, t / kStages % 2);
    multiply(d, stage[t % kStages]);
    if (reads) sum += __bfloat162float(stage[t % kStages][threadIdx.x]);
    if (all_arrive || threadIdx.x == 0) arrive(empty + t % kStages);
  }
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + sum;
}

template __global__ void ring<false, false>(float*, const __nv_bfloat16*, int);
template __global__ void ring<false, true>(float*, const __nv_bfloat16*, int);
template __global__ void ring<true, false>(float*, const __nv_bfloat16*, int);
