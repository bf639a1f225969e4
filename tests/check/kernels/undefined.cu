// Values that nobody defined, each with a twin that throws them away or defines them; and stores of
// one value by many threads.
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/mbarrier.h"

namespace ptx = tessera::ptx;

extern "C" {

// Lanes 8 to 15 read lanes that the mask leaves out, and keep what they get.
__global__ void shuffles_outside(int* out) {
  int sum = threadIdx.x;
  if (threadIdx.x < 16) sum += __shfl_down_sync(0xffff, sum, 8);
  out[threadIdx.x] = sum;
}

// Only lanes whose neighbour takes part keep it.
__global__ void drops_what_is_outside(int* out) {
  int sum = threadIdx.x;
  if (threadIdx.x < 16) {
    const int other = __shfl_down_sync(0xffff, sum, 8);
    if (threadIdx.x < 8) sum += other;
  }
  out[threadIdx.x] = sum;
}

// A list of which only the first n elements are written; all are read.
__global__ void reads_unwritten_list(int* out, int n) {
  int list[8];
  for (int i = 0; i < n; ++i) list[i] = i + threadIdx.x;
  out[threadIdx.x] = list[threadIdx.x & 7];
}

__global__ void reads_written_list(int* out, int n) {
  int list[8];
  for (int i = 0; i < n; ++i) list[i] = i + threadIdx.x;
  const int at = threadIdx.x & 7;
  out[threadIdx.x] = at < n ? list[at] : 0;
}

// The last three elements are left out.
__global__ void forgets_the_end(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 3) out[i] = 2 * in[i];
}

__global__ void takes_roots(float* out, const float* in) {
  out[threadIdx.x] = sqrtf(in[threadIdx.x]);
}

// All threads of all blocks store the same, or each its own.
__global__ void raises_flag(int* flag) { *flag = 1; }
__global__ void raises_own_flag(int* flag) { *flag = threadIdx.x + blockIdx.x * blockDim.x; }

// The block that counts last adds up, and sets the counter back.
__global__ void last_adds_up(int* out, const int* in, volatile int* sums, unsigned* counter) {
  sums[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (atomicAdd(counter, 1) != gridDim.x - 1) return;
  int sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += sums[i];
  *out = sum;
  *counter = 0;
}

// Every block sets the counter back when it has counted: others may not have.
__global__ void each_sets_back(unsigned* out, unsigned* counter) {
  if (blockIdx.x != 0) *counter = 0;
  out[blockIdx.x] = atomicAdd(counter, 1);
}

// The barrier object waits for more arrivals than come.
__global__ void waits_for_more(int* out, unsigned more) {
  __shared__ ptx::Mbarrier full;
  if (threadIdx.x == 0) ptx::mbarrier_init(full, blockDim.x + more);
  __syncthreads();
  ptx::mbarrier_arrive(full);
  ptx::mbarrier_wait_parity(full, 0);
  out[threadIdx.x] = threadIdx.x;
}

// 256 bytes are copied, however many are promised.
__global__ void promises_bytes(int* out, const int* in, unsigned promised) {
  __shared__ alignas(16) int tile[64];
  __shared__ ptx::Mbarrier full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(full, promised);
    ptx::bulk_load(tile, in, sizeof(tile), full);
  }
  ptx::mbarrier_wait_parity(full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// Fills the tile again after all have read it, or after all have written to it; no proxy fence.
__device__ void fill_twice(int* out, const int* in, bool writes) {
  __shared__ alignas(16) int tile[64];
  __shared__ ptx::Mbarrier full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  for (int round = 0; round < 2; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(full, sizeof(tile));
      ptx::bulk_load(tile, in + 64 * round, sizeof(tile), full);
    }
    ptx::mbarrier_wait_parity(full, round);
    out[64 * round + threadIdx.x] = tile[63 - threadIdx.x];
    if (writes) tile[63 - threadIdx.x] = 0;
  }
}
__global__ void fills_what_was_read(int* out, const int* in) { fill_twice(out, in, false); }
__global__ void fills_what_was_written(int* out, const int* in) { fill_twice(out, in, true); }
}

// One list is written whole, of the other the first n elements; both are read.
__global__ void reads_both_lists(int* out, int n) {
  int whole[8], part[8];
  for (int i = 0; i < 8; ++i) whole[i] = i + blockIdx.x + n;
  for (int i = 0; i < n; ++i) part[i] = i + threadIdx.x;
  const int at = out[threadIdx.x] & 7;
  const int known = whole[at];
  const int unknown = part[at];
  out[threadIdx.x] = known + unknown;
}

// Promises bytes and arrives in two instructions.
__global__ void promises_before_it_arrives(int* out, const int* in, unsigned promised) {
  __shared__ alignas(16) int tile[64];
  __shared__ ptx::Mbarrier full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_expect_tx(full, promised);
    ptx::bulk_load(tile, in, sizeof(tile), full);
    ptx::mbarrier_arrive(full);
  }
  ptx::mbarrier_wait_parity(full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// Its warps store to one place, each its own, and then beyond the array.
__global__ void races_and_leaves(int* out) {
  __shared__ volatile int one;
  if (threadIdx.x % 32 == 0) one = threadIdx.x;
  __syncthreads();
  out[threadIdx.x + 1000] = one;
}
