// FP32 and FP64 products on any GPU from SM 7.5 on: the code needs no tensor copies, no barrier
// objects and at most 48 KB of shared memory. One CTA per output tile; tiles of A and B are always
// (k, m) and (k, n) in shared memory. All sizes, strides and alignments: 128-bit accesses where
// base and stride allow them, else one element at a time. The products of a batch follow each other
// in the grid.
#include "kernels/copy/tile_copy.h"
#include "kernels/epilogue/output.h"
#include "kernels/families/simt/portable_config.h"
#include "kernels/families/simt/portable_params.h"
#include "kernels/schedule/product_of.h"
#include "kernels/schedule/raster.h"
#include "kernels/tile/lanes.h"

namespace tessera::portable {

template <auto cfg>
struct Stage {
  using T = typename decltype(cfg)::Element;
  alignas(16) T a[cfg.block.k][cfg.pitch_a()];  // (k, m)
  alignas(16) T b[cfg.block.k][cfg.pitch_b()];  // (k, n)
};

// The stages in shared memory and the copies that fill them. All threads call all functions.
template <auto cfg>
class Ring {
 public:
  using T = typename decltype(cfg)::Element;

  __device__ Ring(Stage<cfg>* stages, const copy::OperandOf<T>& a, const copy::OperandOf<T>& b,
                  long long first_m, long long first_n)
      : stages_(stages), a_(a, first_m), b_(b, first_n), k_left_(a.k) {
#pragma unroll
    for (int stage = 0; stage < kAhead; ++stage) fill(stage);
    finish_next();
  }

  __device__ const Stage<cfg>& current() const { return stages_[current_]; }

  // Starts the load of the next tile; after the last one, tiles are zeros and nothing is read.
  __device__ void start_next() { fill(current_ == 0 ? cfg.stages - 1 : current_ - 1); }

  // Makes the next tile the current one. All threads must have finished with the current one.
  __device__ void finish_next() {
    const int next = current_ + 1 == cfg.stages ? 0 : current_ + 1;
    if constexpr (cfg.load == Load::kPlain) {
      a_.put(&stages_[next].a[0][0]);
      b_.put(&stages_[next].b[0][0]);
    } else {
      ptx::cp_async_wait_group<kAhead - 1>();
    }
    __syncthreads();
    current_ = next;
  }

  // Whether the current tile is inside of the matrix in k.
  __device__ bool has_tile() const { return k_left_ > -kAhead * cfg.block.k; }

  // Waits for all copies: no copy may be in flight when the block ends.
  __device__ void drain() const {
    if constexpr (cfg.load == Load::kCpAsync) ptx::cp_async_wait_all();
  }

 private:
  static constexpr int kAhead = cfg.stages - 1;  // tiles in flight

  __device__ void fill(int stage) {
    if constexpr (cfg.load == Load::kPlain) {
      a_.fetch_next(k_left_);
      b_.fetch_next(k_left_);
    } else {
      a_.copy_next(&stages_[stage].a[0][0], k_left_);
      b_.copy_next(&stages_[stage].b[0][0], k_left_);
      ptx::cp_async_commit_group();
    }
    k_left_ -= cfg.block.k;
  }

  Stage<cfg>* stages_;
  template <int extent, bool along_k, int pitch>
  using Copy = copy::TileCopy<T, extent, cfg.block.k, along_k, pitch, cfg.threads(),
                              cfg.load == Load::kCpAsync>;
  Copy<cfg.block.m, cfg.majors.a == Major::kK, cfg.pitch_a()> a_;
  Copy<cfg.block.n, cfg.majors.b == Major::kK, cfg.pitch_b()> b_;
  long long k_left_;  // from the next tile on
  int current_ = cfg.stages - 1;
};

// Returns the position in the warp's tile of a thread's output i along one side. Outputs are
// vectors of `width` elements, `lanes` vectors apart.
constexpr int element_of(int width, int lanes, int place, int i) {
  return (i / width * lanes + place) * width + i % width;
}

// A thread's fragments for one step of k.
template <auto cfg>
struct Fragments {
  using T = typename decltype(cfg)::Element;
  tile::Vector<T> a[cfg.thread.m / cfg.kVector], b[cfg.thread.n / cfg.kVector];

  // (row, col) is the thread's first output in the block's tile.
  __device__ void load(const Stage<cfg>& stage, int k, int row, int col) {
#pragma unroll
    for (int i = 0; i < cfg.thread.m / cfg.kVector; ++i) {
      a[i] = *reinterpret_cast<const tile::Vector<T>*>(
          &stage.a[k][row + i * cfg.lanes.m * cfg.kVector]);
    }
#pragma unroll
    for (int j = 0; j < cfg.thread.n / cfg.kVector; ++j) {
      b[j] = *reinterpret_cast<const tile::Vector<T>*>(
          &stage.b[k][col + j * cfg.lanes.n * cfg.kVector]);
    }
  }

  __device__ void multiply_add(T (&sum)[cfg.thread.m][cfg.thread.n]) const {
#pragma unroll
    for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
      for (int j = 0; j < cfg.thread.n; ++j) {
        sum[i][j] += a[i / cfg.kVector].x[i % cfg.kVector] * b[j / cfg.kVector].x[j % cfg.kVector];
      }
    }
  }
};

// Adds A * B to `sum` for the block's tile. Fragments are loaded one step ahead, except if the next
// tile is loaded through registers: then no registers are left for a second set.
template <auto cfg, class T>
__device__ void multiply(T (&sum)[cfg.thread.m][cfg.thread.n], Ring<cfg>& ring, int row, int col) {
  constexpr int depth = cfg.block.k, ahead = cfg.load == Load::kPlain ? 0 : 1, sets = ahead + 1;
  Fragments<cfg> fragments[sets];  // fragments of step l are in set l % sets
  if constexpr (ahead > 0) fragments[0].load(ring.current(), 0, row, col);
#pragma unroll 1
  while (ring.has_tile()) {
    ring.start_next();
#pragma unroll
    for (int l = 0; l < depth; ++l) {
      if (l + ahead == depth) ring.finish_next();
      fragments[(l + ahead) % sets].load(ring.current(), (l + ahead) % depth, row, col);
      fragments[l % sets].multiply_add(sum);
    }
    if constexpr (ahead == 0) ring.finish_next();
  }
  ring.drain();
}

template <auto cfg>
__device__ void run(const Params& all) {
  using T = typename decltype(cfg)::Element;
  static_assert(is_legal(cfg));
  __shared__ Stage<cfg> stages[cfg.stages];
  const int product = all.batch.count > 1 ? blockIdx.x / all.tiles : 0;
  const int in_product = all.batch.count > 1 ? blockIdx.x % all.tiles : blockIdx.x;
  const GemmParams p =
      schedule::with_addresses(all.gemm, schedule::addresses_of(all.gemm, all.batch, product));
  const tile::Coord<long long> at = schedule::grouped_tile(
      in_product, (p.m + cfg.block.m - 1) / cfg.block.m, (p.n + cfg.block.n - 1) / cfg.block.n);
  const long long first_m = at.m * cfg.block.m, first_n = at.n * cfg.block.n;
  const int warp = threadIdx.x / 32;
  const tile::Coord<> lane = tile::lane_coord(cfg.lanes, threadIdx.x % 32);
  const int row = warp / cfg.warps.n * (cfg.block.m / cfg.warps.m) + lane.m * cfg.kVector;
  const int col = warp % cfg.warps.n * (cfg.block.n / cfg.warps.n) + lane.n * cfg.kVector;

  T sum[cfg.thread.m][cfg.thread.n] = {};
  if (p.k > 0) {  // else A and B are not read
    const auto a = copy::operand_a<T, cfg.majors.a>(p);
    const auto b = copy::operand_b<T, cfg.majors.b>(p);
    Ring<cfg> ring(stages, a, b, first_m, first_n);
    multiply<cfg>(sum, ring, row, col);
  }
  const auto output = epilogue::vector_output_of<T, T>(p);
#pragma unroll
  for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
    for (int j = 0; j < cfg.thread.n; j += cfg.kVector) {
      T vector[cfg.kVector];
#pragma unroll
      for (int e = 0; e < cfg.kVector; ++e) vector[e] = sum[i][j + e];
      output.store_vector(first_m + row + element_of(cfg.kVector, cfg.lanes.m, 0, i),
                          first_n + col + j * cfg.lanes.n, vector);
    }
  }
}

}  // namespace tessera::portable
