// Transposes n x n matrices; rows of 32 words in shared memory have bank conflicts, rows of 33
// none.
template <int kRow>
__global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][kRow];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  }
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x;
  const int ty = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    // Lanes read a column.
    out[(ty + j) * n + tx] = tile[threadIdx.x][threadIdx.y + j];
  }
}
__global__ void transpose_naive(float* out, const float* in, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}
template __global__ void transpose<32>(float*, const float*, int);
template __global__ void transpose<33>(float*, const float*, int);
