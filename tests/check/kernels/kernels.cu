// Small kernels, each for one thing that "check" has to cope with.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

namespace demo {

template <int factor>
__global__ void scale(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
template __global__ void scale<2>(float*, const float*, int);
template __global__ void scale<3>(float*, const float*, int);

}  // namespace demo

struct Line {
  float* y;
  const float* x;
  int n;
  double slope;
};

extern "C" __global__ void line(Line line) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < line.n) line.y[i] = static_cast<float>(line.slope * line.x[i]);
}

// Every type of argument; out holds them as doubles.
__global__ void types(double* out, signed char a, unsigned char b, short c, unsigned short d, int e,
                      unsigned f, long long g, unsigned long long h, __half i, __nv_bfloat16 j,
                      float k, double l) {
  const double all[] = {double(a),
                        double(b),
                        double(c),
                        double(d),
                        double(e),
                        double(f),
                        double(g),
                        double(h),
                        double(__half2float(i)),
                        double(__bfloat162float(j)),
                        double(k),
                        l};
  if (threadIdx.x < 12) out[threadIdx.x] = all[threadIdx.x];
}

__global__ void half_of_the_block_waits(int* out) {
  if (threadIdx.x < 32) __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void beyond_the_end(float* out) { out[threadIdx.x + 1] = 1; }

__global__ void endless(volatile int* flag) {
  while (*flag != 1) {
  }
}

__global__ void prints(int n) { printf("n is %d\n", n); }

__global__ void order_decides(int* out) { *out = threadIdx.x / 32; }

__global__ void shape(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 100 + thread;
}

__global__ void dynamic(float* out) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = buffer[threadIdx.x];
}
