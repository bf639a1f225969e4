// Kernels whose sizes the program does not tell, or not in numbers: what check assumes of them must
// go together.
#include <cooperative_groups.h>

extern "C" {

// Tiles of 32 x 32: with a width of 32, blocks of one row store to the same elements.
__global__ void transposes_tiles(float* out, const float* in, int width) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) {
    for (int i = 0; i < 32; i += blockDim.x) {
      out[(x + i) * width + y + j] = in[(y + j) * width + x + i];
    }
  }
}

// Blocks store to the same elements whatever the size is.
__global__ void races_at_any_size(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i % 8] = in[i] + blockIdx.x;
}

// A rank in the grid is made of all three components.
__global__ void counts_in_grid(float* out, float* sums, int n) {
  const auto grid = cooperative_groups::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = i;
  if (threadIdx.x == 0) sums[blockIdx.x] = n;
}

__global__ void fills_shared(float* out) {
  extern __shared__ float row[];
  for (int i = threadIdx.x; i < 15000; i += blockDim.x) row[i] = i;
  __syncthreads();
  out[threadIdx.x] = row[14999 - threadIdx.x];
}
}

// As many threads as its argument says: with more, words of others are written.
template <int kThreads>
__global__ void turns_around(float* out, const float* in) {
  __shared__ float words[kThreads];
  words[threadIdx.x % kThreads] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = words[kThreads - 1 - threadIdx.x % kThreads];
}
template __global__ void turns_around<96>(float*, const float*);

int bytes_of_device();

int main() {
  float* out = nullptr;
  fills_shared<<<2, 64, bytes_of_device()>>>(out);
}
