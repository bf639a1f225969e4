// Kernels that a program launches by macros: one for each type, sizes chosen in a switch, flags
// that become template arguments, and a launch that is one macro's argument.
#include <cstdio>

#define CHECK(call)                                              \
  do {                                                           \
    const cudaError_t error = (call);                            \
    if (error != cudaSuccess) std::printf("%s failed\n", #call); \
  } while (0)

template <class T>
__global__ void scale(T* x, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

template <int kHead, bool kCausal>
__global__ void head(float* out, const float* in, int rows) {
  __shared__ float row[kHead];
  const int r = blockIdx.x;
  row[threadIdx.x] = in[r * kHead + threadIdx.x];
  __syncthreads();
  const int last = kCausal ? min(r, kHead - 1) : kHead - 1;
  if (r < rows) out[r * kHead + threadIdx.x] = row[last - threadIdx.x % (last + 1)];
}

#define DEFINE_UPDATE(NAME, OPERATION)                              \
  __global__ void NAME##_kernel(float* y, const float* x, int n) {  \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;            \
    if (i < n) y[i] = y[i] OPERATION x[i];                          \
  }                                                                 \
  void NAME(float* y, const float* x, int n, cudaStream_t stream) { \
    NAME##_kernel<<<(n + 95) / 96, 96, 0, stream>>>(y, x, n);       \
  }

DEFINE_UPDATE(add, +)
DEFINE_UPDATE(subtract, -)

#define LAUNCH_SCALE(T, BLOCK, ...) \
  scale<T><<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(__VA_ARGS__)

#define FLAG_SWITCH(FLAG, NAME, ...)      \
  [&] {                                   \
    if (FLAG) {                           \
      constexpr static bool NAME = true;  \
      return __VA_ARGS__();               \
    } else {                              \
      constexpr static bool NAME = false; \
      return __VA_ARGS__();               \
    }                                     \
  }()

#define HEAD_CASE(SIZE, NAME, ...)    \
  case SIZE: {                        \
    constexpr static int NAME = SIZE; \
    __VA_ARGS__();                    \
    break;                            \
  }
#define HEAD_SWITCH(SIZE, NAME, ...) \
  switch (SIZE) {                    \
    HEAD_CASE(32, NAME, __VA_ARGS__) \
    HEAD_CASE(64, NAME, __VA_ARGS__) \
  }

void run_scale(float* f, double* d, int n, cudaStream_t stream) {
  LAUNCH_SCALE(float, 64, f, 2.5F, n);
  LAUNCH_SCALE(double, 160, d, 0.5, n);
}

void run_head(float* out, const float* in, int rows, int size, bool is_causal,
              cudaStream_t stream) {
  HEAD_SWITCH(size, kSize, [&] {
    FLAG_SWITCH(is_causal, kCausal,
                [&] { head<kSize, kCausal><<<rows, kSize, 0, stream>>>(out, in, rows); });
  });
}

__global__ void count(unsigned* counts, const int* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(counts + (keys[i] & 7), 1U);
}

int main(int argc, char** argv) {
  const int n = 1 << 16;
  float *x, *y;
  double* d;
  unsigned* counts;
  int* keys;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMalloc(&d, n * sizeof(double)));
  CHECK(cudaMalloc(&counts, 8 * sizeof(unsigned)));
  CHECK(cudaMalloc(&keys, n * sizeof(int)));
  run_scale(x, d, n, nullptr);
  run_head(y, x, 48, 64, argc > 1, nullptr);
  add(y, x, n, nullptr);
  subtract(y, x, n, nullptr);
  int keys_to_count = 4000;
  void* arguments[] = {&counts, &keys, &keys_to_count};
  CHECK(cudaLaunchKernel((const void*)count, dim3((keys_to_count + 127) / 128), dim3(128),
                         arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
}
