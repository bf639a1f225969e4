// Kernels whose launch shapes other functions of the program make.
#include <tuple>

__global__ void scale(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

__global__ void tiles(float* out, const float* in, int width, int height) {
  extern __shared__ float tile[];
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  if (x < width && y < height) tile[at] = in[y * width + x];
  __syncthreads();
  if (x < width && y < height) out[y * width + x] = 2 * tile[at];
}

__global__ void fill(int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i;
}

__global__ void resident(float* y, int n) {
  extern __shared__ float held[];
  held[threadIdx.x] = static_cast<float>(threadIdx.x);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = held[threadIdx.x];
  }
}

struct Shape {
  dim3 grid, block;
  std::size_t bytes = 0;
};

int block_for(int n) {
  int block = 1024;
  while (block > 96 && block * 64 > n) block /= 2;
  return block;
}

Shape shape_for(int n) {
  Shape shape;
  shape.block = dim3(block_for(n));
  shape.grid = dim3((n + shape.block.x - 1) / shape.block.x);
  return shape;
}

std::tuple<dim3, dim3, int> tiles_of(int width, int height) {
  const dim3 block(16, height > 64 ? 8 : 4);
  return {dim3(width / 16, (height + block.y - 1) / block.y), block, int(16 * block.y * 4)};
}

void configure(cudaLaunchConfig_t* config, int n) {
  config->blockDim = dim3(160);
  config->gridDim.x = (n + 159) / 160;
}

int blocks_of_gpu(int per_sm) {
  int sms = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  if (sms > 100) return sms * per_sm;
  return 2 * sms * per_sm;
}

std::size_t bytes_of_gpu();

int main() {
  const int n = 1 << 16, width = 128, height = 96;
  float *x, *y;
  int* z;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMalloc(&z, n * sizeof(int));
  const Shape shape = shape_for(n);
  scale<<<shape.grid, shape.block, shape.bytes>>>(x, 2.0F, n);
  const auto [grid, block, bytes] = tiles_of(width, height);
  tiles<<<grid, block, bytes>>>(y, x, width, height);
  cudaLaunchConfig_t config = {};
  configure(&config, n);
  cudaLaunchKernelEx(&config, fill, z, n);
  resident<<<blocks_of_gpu(2), 128, bytes_of_gpu()>>>(y, n);
}
