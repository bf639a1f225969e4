// What a kernel may be given besides numbers and arrays.
__constant__ float coefficients[4];
__device__ int mode;

__global__ void weighs(float* out, const float* in, const int* offset) {
  const int i = threadIdx.x;
  out[i] = in[i] * coefficients[i % 4] + static_cast<float>(offset ? offset[0] : mode);
}

__global__ void sums(float* out, const float* const* rows, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    if (rows[i]) sum += rows[i][threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

template <class T, unsigned count>
__global__ void doubled(T* out, const T* in) {
  if (threadIdx.x < count) out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x];
}
template __global__ void doubled<float, 16u>(float*, const float*);
template __global__ void doubled<float, 32u>(float*, const float*);

// Warps take places as they come: in order, and still different in every run.
__global__ void queue(int* out, int* counter) {
  if (threadIdx.x % 32 == 0) out[atomicAdd(counter, 1)] = threadIdx.x / 32;
}

enum class Mode : int { kA, kB, kC = 7 };

template <class T, unsigned count, Mode mode, char letter>
__global__ void chosen(T* out) {
  out[threadIdx.x] = static_cast<T>(count + static_cast<unsigned>(mode) + letter);
}
template __global__ void chosen<unsigned char, 4u, Mode::kA, 'x'>(unsigned char*);
template __global__ void chosen<long, 4u, Mode::kB, 'x'>(long*);
template __global__ void chosen<long, 4u, Mode::kC, 'y'>(long*);
template __global__ void chosen<unsigned long, 8u, Mode::kA, 'y'>(unsigned long*);
