// out = the transposed of in, both n x n. A block moves a tile of 32 x 32 through shared memory, so
// that reads and writes of global memory both run along rows.
__global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  }
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x;
  const int ty = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    out[(ty + j) * n + tx] = tile[threadIdx.x][threadIdx.y + j];
  }
}
