// What kernels do to memory and to the lanes of a warp, for tests of what they cost.
struct Particle {
  float x, y, z, w, vx, vy, vz, mass;
};
__global__ void one_field(float* out, const Particle* particles, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = particles[i].x;
}
__global__ void add(float* c, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void histogram(unsigned* bins, const unsigned* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] & 1], 1u);
}
__global__ void shared_histogram(unsigned* bins, const unsigned* in, int n) {
  __shared__ unsigned mine[2];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 2) mine[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&mine[in[i] & 1], 1u);
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
__global__ void odd_lanes(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = in[i];
  if (threadIdx.x & 1) {
    for (int k = 0; k < 64; ++k) x = x * x + k;
  }
  out[i] = x;
}
__global__ void reduce(float* out, const float* in) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    if (t % (2 * k) == 0) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void multiply(float* c, const float* a, const float* b, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}
__global__ void strided(float* out, const float* in, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}
struct Point {
  float x, y, z, w;
};
__global__ void sums(float* out, const Point* points, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = points[i].x;
  const float y = points[i].y;
  const float z = points[i].z;
  const float w = points[i].w;
  out[i] = x + y + z + w;
}
