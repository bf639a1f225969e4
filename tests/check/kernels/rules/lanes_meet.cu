// Lanes of a warp hand data over through shared memory, and meet in between: by __syncwarp(), which
// orders memory, or by an instruction that only exchanges values.
#if defined BY_SHUFFLE
#define MEET out[t] = __shfl_sync(~0u, in[t], 0)
#elif defined BY_VOTE
#define MEET \
  if (__all_sync(~0u, in[t] > 9)) return
#elif defined BY_MATCH
#define MEET \
  if (__match_any_sync(~0u, in[t]) == 0) return
#elif defined BY_SUM
#define MEET \
  if (__reduce_add_sync(~0u, unsigned(in[t] > 9)) > 9) return
#elif defined BY_BLOCK
#define MEET __syncthreads()
#else
#define MEET __syncwarp()
#endif

__global__ void turned(float* out, const float* in) {
  __shared__ float values[64];
  const int t = threadIdx.x, first = t / 32 * 32, lane = t % 32;
  values[t] = in[t];
  MEET;
  out[t] = values[first + (lane + 1) % 32];
}

// Shuffles that only shuffle.
__global__ void sums(float* out, const float* in) {
  __shared__ float of_warp[2];
  float sum = in[threadIdx.x];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  out[threadIdx.x] = of_warp[0] + of_warp[1];
}
