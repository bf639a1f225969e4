// An index that leaves an array lands in the next one, where nothing is out of bounds of the
// memory. OVER is how far it goes too far.
#ifndef OVER
#define OVER 0
#endif

__global__ void shared_arrays(float* out, const float* in) {
  __shared__ float first[32], second[32];
  const int t = threadIdx.x;
  first[t] = in[t];
  second[t] = in[t] + 1;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += first[(t + i) % 32 + OVER] * second[(t + 2 * i) % 32];
  __syncthreads();
  out[t] = sum;
}

// The compiler keeps both in memory, because their indices are data.
__global__ void own_arrays(float* out, const int* places) {
  float first[16], second[12];
  for (int i = 0; i < 16; ++i) first[i] = out[i];
  for (int i = 0; i < 12; ++i) second[i] = out[16 + i];
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    const int place = places[i] % 12;
    first[place] = sum;
    sum += first[place + 4 + OVER] + second[place];
    second[place] = sum;
  }
  for (int i = 1; i < 8; ++i) sum += first[i] * first[i - 1];
  out[threadIdx.x] = sum;
}
