// Kernels with a program that launches them: what check can read from that.
#define SIDE 8
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

__global__ void scale(float* data, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

// Its sides are compiled in; a block of any other shape leaves the tile.
__global__ void flip(float* out, const float* in, int width) {
  __shared__ float tile[SIDE][SIDE];
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

// An index of a table: most numbers are beyond its end.
__global__ void look_up(float* out, const float* table, const int* index, int n) {
  __shared__ float first[4];
  if (threadIdx.x < 4) first[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = first[index[i]];
}

template <int kThreads>
__global__ void sum(const int* in, int* out) {
  extern __shared__ int partial[];
  partial[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

struct Matrix {
  int width, height;
  float* elements;
};
__global__ void transposed(const Matrix in, Matrix out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < in.width && y < in.height) {
    out.elements[x * out.width + y] = in.elements[y * in.width + x];
  }
}

// Nobody lets it go.
__global__ void wait_for_ever(volatile int* flag) {
  while (*flag != 77) {
  }
}

void launch_scale(float* data, int n, int block) {
  scale<<<ceil_div(n, block), block>>>(data, 0.5f, n);
}

template <class T>
void launch_sum(int threads, int blocks, int* in, int* out) {
  const size_t bytes = threads * sizeof(T);
  switch (threads) {
    case 64:
      sum<64><<<blocks, threads, bytes>>>(in, out);
      break;
    case 256:
      sum<256><<<blocks, threads, bytes>>>(in, out);
      break;
  }
}

int main() {
  const int n = 1 << 18, width = 512;
  float *data, *out;
  cudaMalloc(&data, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  launch_scale(data, n, 128);
  const dim3 block(SIDE, SIDE);
  dim3 grid(width / block.x, 1);
  grid.y = width / SIDE;
  flip<<<grid, block>>>(out, data, width);
  Matrix a, b;
  a.width = b.height = 256;
  b.width = 128;
  a.height = 128;
  a.width = 256;
  cudaMalloc(&a.elements, n * sizeof(float));
  transposed<<<dim3(a.width / 16, a.height / 16), dim3(16, 16)>>>(a, b);
  int *in, *sums;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&sums, n * sizeof(int));
  launch_sum<int>(256, n / 256, in, sums);
}
