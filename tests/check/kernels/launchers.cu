// Kernels that a program launches in other ways than by <<<>>> in a function: through the runtime,
// from members of classes, by templates that pass arguments on.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void fill(float* y, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = value;
}

template <class T, int kBlock>
__global__ void axpy(T* y, const T* x, T a, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void total(const float* in, float* out, unsigned n) {
  const cg::grid_group grid = cg::this_grid();
  float sum = 0;
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
  atomicAdd(out + blockIdx.x, sum);
  grid.sync();
  if (grid.thread_rank() == 0) {
    for (unsigned b = 1; b < gridDim.x; ++b) out[0] += out[b];
  }
}

// Each block reads what its neighbour in the cluster has stored.
__global__ void swap_in_cluster(float* out, const float* in, int n) {
  extern __shared__ float tile[];
  const cg::cluster_group cluster = cg::this_cluster();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  cluster.sync();
  const float* other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  if (i < n) out[i] = other[threadIdx.x];
  cluster.sync();
}

struct Scaling {
  float* out;
  const float* in;
  int n, stride = 1;
  float factor;
};
__global__ void scale_by(const Scaling s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) s.out[i] = s.factor * s.in[i * s.stride];
}

// Vectors among its fields, one of them aligned.
struct Motion {
  float step;
  float3 gravity;
  unsigned count;
  float4 bounds;
  float4* bodies;
};
__global__ void move(Motion m) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m.count) m.bodies[i].x = fminf(m.bodies[i].x + m.gravity.x * m.step, m.bounds.w);
}

// Nothing but the grid says how far it goes.
__global__ void touch(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void through(float* const* rows, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = rows[0][i];
}

template <class T>
T&& forward(T& value) {
  return static_cast<T&&>(value);
}
template <class Kernel, class... Args>
void launch(Kernel kernel, dim3 grid, dim3 block, Args&&... args) {
  kernel<<<grid, block>>>(forward<Args>(args)...);
}
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

class Solver {
 public:
  explicit Solver(int n) : n_(n), grid_{unsigned(ceil_div(n, kThreads))}, block_{kThreads} {
    cudaMalloc(&y_, n_ * sizeof(float));
    cudaMalloc(&x_, n_ * sizeof(float));
  }
  void reset() const { fill<<<this->grid_, block_>>>(y_, this->n_, 0.5f); }
  void step() { launch(axpy<float, kThreads>, grid_, block_, y_, x_, 2.0f, n_); }

 private:
  static constexpr int kThreads = 192;
  int n_;
  dim3 grid_, block_;
  float *x_, *y_;
};

void add_up(int size, int threads, int blocks, float* d_in, float* d_out) {
  void* arguments[] = {(void*)&d_in, (void*)&d_out, (void*)&size};
  cudaLaunchCooperativeKernel((void*)total, dim3(blocks), dim3(threads), arguments, 0, nullptr);
}

void swap(float* out, float* in, int n) {
  const int threads = 160;
  cudaLaunchConfig_t config = {0};
  config.gridDim = dim3(n / threads);
  config.blockDim = threads;
  config.dynamicSmemBytes = threads * sizeof(float);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, swap_in_cluster, out, (const float*)in, n);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? argv[1][0] : 1 << 16;
  Solver solver(n);
  solver.reset();
  solver.step();
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  add_up(n, 96, n / 96, in, out);
  swap(out, in, n);
  const Scaling s = {.out = out, .in = in, .n = n / 2, .factor = 0.25f};
  const auto scaled = [&](int threads) { scale_by<<<ceil_div(s.n, threads), threads>>>(s); };
  scaled(64);
  Motion m{};
  m.step = 0.5f;
  m.count = 4096;
  m.bodies = (float4*)out;
  move<<<(m.count + 95) / 96, 96>>>(m);
  touch<<<4096, 1024>>>(out);
}
