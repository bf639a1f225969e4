// Threads that read a word, change it and store it without an atomic; and others that look alike
// and lose nothing.
extern "C" {

// ---- updates are lost ---------------------------------------------------------------------------

// Bins of a warp: some lanes count in the same one.
__global__ void counts_in_shared(int* out, const int* in) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncwarp();
  bins[in[threadIdx.x] & 7] += 1;
  __syncwarp();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void counts_between_barriers(int* out, const int* in) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncwarp();
  const int bin = in[threadIdx.x] & 7;
  const int count = bins[bin];
  __syncwarp();
  bins[bin] = count + 1;
  __syncwarp();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void counts_between_barriers_of_block(int* out, const int* in) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  const int bin = in[threadIdx.x] & 7;
  const int count = bins[bin];
  __syncthreads();
  bins[bin] = count + 1;
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void counts_in_global(int* out, const int* in) { out[in[threadIdx.x] & 7] += 1; }
__global__ void counts_volatile(volatile int* out, const int* in) { out[in[threadIdx.x] & 7] += 1; }
__global__ void flips(int* out, const int* in) { out[in[threadIdx.x] & 7] ^= 1; }
__global__ void shifts(int* out, const int* in) {
  out[in[threadIdx.x] & 7] = out[in[threadIdx.x] & 7] * 2 + 1;
}
// The words differ, and so do the values.
__global__ void adds_up(float* out, const float* in) { *out += in[threadIdx.x]; }
__global__ void keeps_largest(int* out, const int* in) { *out = max(*out, in[threadIdx.x]); }
// Through a pointer that may be either memory, in a function that is not inlined.
__device__ __noinline__ void count_one(int* bins, int value) { bins[value & 7] += 1; }
__global__ void counts_in_a_function(int* out, const int* in) { count_one(out, in[threadIdx.x]); }

// Warps lose updates to one another: a lane of each.
__global__ void counts_warps(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) count += 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}
// Each warp has a lane for each bin, and all have read before the first one writes.
__global__ void counts_warps_in_bins(int* out) {
  __shared__ int bins[32];
  bins[threadIdx.x % 32] = 0;
  __syncthreads();
  const int count = bins[threadIdx.x % 32];
  __syncthreads();
  bins[threadIdx.x % 32] = count + 1;
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x % 32];
}
// Two statements change the same words; lanes of a warp, or a lane of each warp.
__global__ void counts_at_two_lines(int* out, const int* in) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[in[threadIdx.x] & 7] += 1;
  bins[in[threadIdx.x] >> 1 & 7] += 1;
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void counts_warps_at_two_lines(int* out, const int* in) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    bins[in[threadIdx.x] / 32] += 1;
    bins[1 - in[threadIdx.x] / 32] += 1;
  }
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
// The other line only reads.
__global__ void counts_and_looks(int* out, const int* in) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    bins[in[threadIdx.x] / 32] += 1;
    out[threadIdx.x] = bins[1 - in[threadIdx.x] / 32];
  }
}
__global__ void counts_blocks(int* out) {
  if (threadIdx.x == 0) *out += 1;
}

// No update, and the value is anybody's.
__global__ void leaves_one_of_the_lanes(int* out, const int* in) { *out = in[threadIdx.x]; }

// ---- nothing is lost ----------------------------------------------------------------------------

__global__ void sets_flag(int* out, const int* in) {
  if (in[threadIdx.x] >= 0) *out = 1;
}
__global__ void keeps_at_least(int* out, int least) { *out = max(*out, least); }
__global__ void sets_bit(int* out, int bit) { *out |= bit; }
__global__ void clears_bits(int* out, int bits) { *out = (*out & ~bits) | 1; }
__global__ void has_bins_of_its_own(int* out, const int* in) {
  out[threadIdx.x] += in[threadIdx.x];
  out[threadIdx.x] *= 3;
}
__global__ void counts_by_atomics(int* out, const int* in) {
  atomicAdd(out + (in[threadIdx.x] & 7), 1);
}
// All lanes store what they have added up together.
__global__ void adds_sum_of_warp(int* out, const int* in) {
  int sum = in[threadIdx.x];
  for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  const int before = *out;
  __syncwarp();
  *out = before + sum;
}
// One step for all threads of the block.
__global__ void takes_a_step(int* out, int* level) {
  const int before = *level;
  __syncthreads();
  *level = before + 1;
  out[threadIdx.x] = before;
}
// Halves of a tree of sums: each adds what another one holds to its own.
__global__ void adds_in_a_tree(int* out, const int* in) {
  __shared__ int sums[64];
  sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *out = sums[0];
}
// Reads and writes of one line that are unordered, and no updates.
__global__ void moves_down(int* out, const int* in) {
  __shared__ int moved[33];
  moved[threadIdx.x + 1] = in[threadIdx.x];
  __syncwarp();
  moved[threadIdx.x] = moved[threadIdx.x + 1];
  __syncwarp();
  out[threadIdx.x] = moved[threadIdx.x];
}
__global__ void adds_the_next(int* out, const int* in) {
  __shared__ int sums[33];
  sums[threadIdx.x + 1] = sums[0] = in[0];
  __syncwarp();
  sums[threadIdx.x] += sums[threadIdx.x + 1];
  __syncwarp();
  out[threadIdx.x] = sums[threadIdx.x];
}
// Lanes go from word to word, each alone in its own.
__global__ void goes_round(int* out, const int* in) {
  __shared__ int sums[32];
  sums[threadIdx.x] = 0;
  __syncwarp();
#pragma unroll 1
  for (int i = 0; i < 32; ++i) {
    sums[(threadIdx.x + i) % 32] += in[threadIdx.x];
  }
  __syncwarp();
  out[threadIdx.x] = sums[threadIdx.x];
}
}
