// Kernels that call what the driver brings: printf, assert, malloc, free, and grid.sync().
#include <cooperative_groups.h>

#include <cassert>
#include <cstdio>

__global__ void formats(int* out) {
  if (threadIdx.x >= 2) return;
  const int n = printf("%d|%5.2f|%-6s|%c|%lld|%x|%08.3e|%%|%*d\n", -3, 2.5f, "ab",
                       'x' + threadIdx.x, -(1ll << 40), 255u, 1234.5, 4, 7);
  out[threadIdx.x] = n;
}

__global__ void asserts(const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
  assert(x[i] >= 0.0f && "no negative numbers");
}

__global__ void heap(float** out, int reads_beyond, int reads_freed) {
  float* mine = static_cast<float*>(malloc(4 * sizeof(float)));
  float* other = new float[4];
  for (int i = 0; i < 4; ++i) mine[i] = other[i] = static_cast<float>(i);
  if (reads_beyond) mine[4] = 1;
  if (reads_freed) {
    free(mine);
    mine[1] = 2;
  }
  out[threadIdx.x] = mine;
  delete[] other;
}

__global__ void heap_read_early(float* out) {
  const float* mine = static_cast<const float*>(malloc(4 * sizeof(float)));
  out[threadIdx.x] = mine[2];
}

// Each thread reads what a thread of another block wrote.
__global__ void meets(int* data, int n, int waits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
  if (waits) cooperative_groups::this_grid().sync();
  data[n + i] = data[n - 1 - i];
}

struct alignas(256) Wide {
  int values[64];
};

__global__ void aligned_heap(int* out, int beyond) {
  const char* small = static_cast<char*>(malloc(8));
  Wide* wide = new Wide[2];
  assert(reinterpret_cast<unsigned long long>(wide) % 256 == 0);
  wide[1].values[63 + beyond] = threadIdx.x;
  out[threadIdx.x] = wide[1].values[63] + (small == nullptr);
  delete[] wide;
}
