// Data that a kernel stores and reads again: by ordinary loads that is right, by the read-only path
// it may be what was there before.
#ifdef READ_ONLY
#define READ(pointer) __ldg(pointer)
#else
#define READ(pointer) *(pointer)
#endif

// Each thread reads what its neighbour has stored before the barrier.
__global__ void neighbours(float* out, float* scratch, const float* in) {
  const int i = threadIdx.x;
  scratch[i] = 2 * in[i];
  __syncthreads();
  out[i] = READ(scratch + (i + 1) % blockDim.x);
}

// In place: each element is read once, before it is written.
__global__ void in_place(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 3 * READ(x + i);
}
