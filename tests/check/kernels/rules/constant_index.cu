// Constant indices outside of an array: the compiler takes that for impossible and keeps nothing of
// it.
#ifndef LAST
#define LAST 4
#endif

__global__ void one(float* out, const float* in) {
  float values[4];
  for (int i = 0; i < 4; ++i) values[i] = in[i];
  out[0] = values[LAST];
}

__global__ void unrolled(float* out, const float* in) {
  float values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = in[i];
  float sum = 0;
#pragma unroll
  for (int i = 0; i <= LAST; ++i) sum += values[i];
  out[0] = sum;
}
