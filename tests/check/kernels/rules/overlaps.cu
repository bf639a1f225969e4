// Kernels that start before the one ahead of them has ended, whose result is `in`. Weights were
// there long before.
#include <cuda_runtime.h>

__global__ void reads_early(float* out, const float* in, const float* weights) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i];
  cudaGridDependencySynchronize();
  out[i] = x * weights[i];
}

__global__ void waits_first(float* out, const float* in, const float* weights) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float weight = weights[i];
  cudaGridDependencySynchronize();
  out[i] = in[i] * weight;
}

__global__ void stores_early(float* out, const float* in, const float* weights) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = weights[i];
  cudaGridDependencySynchronize();
  out[i] += in[i];
}
