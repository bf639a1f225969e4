// Launches that no GPU starts, and the same with what they lack.
#include <cuda_runtime.h>

#ifdef BOUNDED
#define FOR_ITS_BLOCK __launch_bounds__(1024)
#else
#define FOR_ITS_BLOCK
#endif

// 72 sums of a thread stay in registers.
__global__ void FOR_ITS_BLOCK many_sums(float* out, const float* in, int n) {
  float sums[72];
#pragma unroll
  for (int i = 0; i < 72; ++i) sums[i] = in[i];
  for (int step = 0; step < n; ++step) {
#pragma unroll
    for (int i = 0; i < 72; ++i) sums[i] = sums[i] * sums[(i + 1) % 72] + in[step];
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 72; ++i) sum += sums[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void __launch_bounds__(128) small_block(float* out) { out[threadIdx.x] = 1; }
__global__ void any_block(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x + threadIdx.y] = 1;
}
__global__ void shared_block(float* out) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = 1;
  out[threadIdx.x] = buffer[threadIdx.x];
}

int main() {
  float* out = nullptr;
  cudaMalloc(&out, 1 << 20);
  small_block<<<1, 256>>>(out);
  any_block<<<2, dim3(64, 32)>>>(out);
  shared_block<<<1, 64, 1 << 20>>>(out);
}
