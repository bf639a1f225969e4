// Kernels of rows and columns with a program that launches them on more than can be tried: what is
// halved for a proposal, and what stays as the program has it.
#include <cstdio>

// Right up to 512 columns: the last ones of a wider row are left as they were.
__global__ void center(float* out, const float* in, int cols) {
  __shared__ float sums[256];
  const float* row = in + blockIdx.x * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < min(cols, 512); i += blockDim.x) {
    out[blockIdx.x * cols + i] = row[i] - sums[0] / cols;
  }
}

// Its loop goes one too far.
__global__ void sum_rows(float* out, const float* in, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i <= cols; ++i) sum += in[row * cols + i];
  out[row] = sum;
}

// The same for every block; each thread goes through all of it.
__global__ void polynomial(float* out, const float* in, int terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < terms; ++k) sum = sum * in[i] + 1;
  out[i] = sum;
}

// Right for keys that are sorted already.
__global__ void sort_pairs(int* keys, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n && keys[i] > keys[i + 1]) keys[i] = keys[i + 1];
}

// A row of a sparse matrix begins where the one before it ends.
__global__ void lengths(int* out, const int* begins, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) out[row] = begins[row + 1] - begins[row];
}

template <int kSteps>
__global__ void steps(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < kSteps; ++k) {
    if (i < n) x[i] += k;
  }
}

// Nothing but the grid says how far it goes.
__global__ void touch(float* x) {
  x[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = 1;
}

// Nothing of the grid goes in: one pass of the data whatever it is.
__global__ void pass(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = i;
}

void run_steps(int which, float* x, int n) {
  switch (which) {
    case 1:
      steps<4><<<(n + 63) / 64, 64>>>(x, n);
      break;
    case 2: {
      const int threads = 128;
      steps<8><<<(n + threads - 1) / threads, threads>>>(x, n);
      break;
    }
    default:
      steps<2><<<(n + 31) / 32, 32>>>(x, n);
  }
}

int main() {
  int rows = 1 << 22, cols = 768, few = 96, terms = 1 << 30, n = 1 << 12, large = 1 << 26;
  float *in, *out, *sums, *points, *x;
  cudaMalloc(&in, size_t(rows) * cols * sizeof(float));
  cudaMalloc(&out, size_t(rows) * cols * sizeof(float));
  center<<<rows, 256>>>(out, in, cols);
  cudaMalloc(&sums, few * sizeof(float));
  cudaMalloc((void**)&points, few * cols * sizeof(float));
  sum_rows<<<(few + 31) / 32, 32>>>(sums, points, few, cols);
  polynomial<<<n / 128, 128>>>(out, in, terms);
  run_steps(2, out, n);
  cudaMalloc(&x, size_t(large) * sizeof(float));
  pass<<<large / 256, 256>>>(x, large);
  touch<<<dim3(1 << 16, 1 << 12), 1024>>>(out);
}
