// Launches that end in a fault as the program makes them: none with other numbers may be shown in
// their place.
extern "C" {

// 16 bytes at a time from rows whose length is no multiple of four.
__global__ void scales_rows(float* m, int cols) {
  float* row = m + blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
    float4 v = reinterpret_cast<float4*>(row)[i];
    v.x *= 2;
    reinterpret_cast<float4*>(row)[i] = v;
  }
}

// With room for three neighbours on each side.
__global__ void adds_neighbours(float* out, const float* in, int n) {
  extern __shared__ float s[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x + 3] = i < n ? in[i] : 0;
  if (threadIdx.x < 3) s[threadIdx.x] = s[threadIdx.x + blockDim.x + 3] = 0;
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x] + s[threadIdx.x + 6];
}

// For blocks of 256.
__global__ void reverses(float* out, const float* in) {
  __shared__ float s[256];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

// Block 0 hands over with a thread that it does not have.
__global__ void hands_over(volatile int* flag, float* x) {
  if (blockIdx.x == 0) {
    x[threadIdx.x] = 1;
    __threadfence();
    if (threadIdx.x == 32) *flag = 1;
  } else {
    while (*flag == 0) {
    }
    x[32 + threadIdx.x] = x[threadIdx.x] + 1;
  }
}

// What it is given decides: right for indices that are no larger than 4096.
__global__ void looks_up(float* out, const int* index, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && index[i] != 0) __trap();
  if (i < n) out[i] = index[i];
}

// Launched only where the rows are whole.
__global__ void scales_whole_rows(float* m, int cols) {
  float4* row = reinterpret_cast<float4*>(m + blockIdx.x * cols);
  if (threadIdx.x >= cols / 4) return;
  float4 v = row[threadIdx.x];
  v.x *= 2;
  row[threadIdx.x] = v;
}
}

int main() {
  const int rows = 40, cols = 1001, n = 5000, threads = 128, radius = 3;
  float *m, *in, *out, *x;
  int *flag, *index;
  cudaMalloc(&m, rows * cols * sizeof(float));
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&index, n * sizeof(int));
  scales_rows<<<rows, threads>>>(m, cols);
  adds_neighbours<<<(n + threads - 1) / threads, threads, (threads + radius) * sizeof(float)>>>(
      out, in, n);
  reverses<<<8, 512>>>(out, in);
  hands_over<<<2, 32>>>(flag, x);
  looks_up<<<(n + 127) / 128, 128>>>(out, index, n);
  if (cols % 4 == 0) {
    scales_whole_rows<<<rows, 256>>>(m, cols);
  }
}
