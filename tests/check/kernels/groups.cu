// One block of 128. Two barriers are missing: the first leaves five pairs of lines in no order,
// the second one.
__global__ void groups(float* out, const float* in) {
  __shared__ float left[128], right[128];
  const int x = threadIdx.x;
  left[x] = 0;
  right[x] = 0;
  __syncthreads();
  left[x] = in[x];
  right[x] = in[x + 128];
  float sum = left[(x + 32) % 128];
  sum += right[(x + 64) % 128];
  sum -= left[(x + 97) % 128];
  sum *= right[(x + 33) % 128];
  sum -= right[(x + 71) % 128];
  __syncthreads();
  left[x] = sum;
  out[x] = left[(x + 33) % 128];
}
