// FP32 and FP64 products on any GPU from SM 7.5 on: nothing here needs tensor copies, barrier
// objects or more than 48 KB of shared memory. One CTA per output tile; tiles of A and B are in
// shared memory as (k, m) and (k, n) whichever way the operands lie. All sizes, strides and
// alignments: 128-bit accesses where base and stride allow them, else one element at a time.
#include "kernels/families/simt/portable_config.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/tile/lanes.h"
#include "launch/params.h"

namespace tessera::portable {

template <class T>
struct alignas(16) Vector {
  T x[16 / sizeof(T)];
};

// WHY __stwb: a plain store beside a scalar path is merged with it and comes out as scalar stores.
__device__ inline void store_vector(float* to, const Vector<float>& v) {
  __stwb(reinterpret_cast<float4*>(to), {v.x[0], v.x[1], v.x[2], v.x[3]});
}
__device__ inline void store_vector(double* to, const Vector<double>& v) {
  __stwb(reinterpret_cast<double2*>(to), {v.x[0], v.x[1]});
}

template <class T>
__device__ bool allows_vectors(const void* base, long long stride) {
  return reinterpret_cast<unsigned long long>(base) % 16 == 0 && stride % (16 / sizeof(T)) == 0;
}

// How many of `count` elements from `at` on are among the first `end`.
__device__ inline int inside(long long at, long long end, int count) {
  const long long left = end - at;
  return left <= 0 ? 0 : left < count ? static_cast<int>(left) : count;
}

// One operand in global memory. `outer`: m of A, n of B.
template <class T>
struct Operand {
  const T* data;
  long long outer, k;  // extents
  long long stride;    // between neighbours of the index that is not contiguous
};

// Which chunks of `width` elements of an extent x depth tile each thread copies. Consecutive
// threads copy consecutive chunks of the contiguous side, then the next lines.
template <auto cfg, int extent, bool along_k, int width>
struct ChunkMap {
  static constexpr int kAcross = (along_k ? cfg.block.k : extent) / width;  // chunks of a line
  static constexpr int kLines = cfg.threads() / kAcross;                    // copied at once
  static constexpr int kCount = extent * cfg.block.k / width / cfg.threads();
  static_assert(kAcross * kLines == cfg.threads());
  static_assert(kCount * cfg.threads() * width == extent * cfg.block.k);

  // This thread's first chunk; the next ones are kLines lines apart.
  __device__ static int across() { return threadIdx.x % kAcross * width; }
  __device__ static int line() { return threadIdx.x / kAcross; }
};

// Moves the tiles of one operand, in the order of k; elements outside of the matrix become zeros.
template <auto cfg, int extent, bool along_k, int pitch>
class Loader {
 public:
  using T = typename decltype(cfg)::Element;

  __device__ Loader(const Operand<T>& operand, long long first_outer)
      : vectors_(allows_vectors<T>(operand.data, operand.stride)), stride_(operand.stride) {
    // Copies transpose one element at a time.
    const bool by_element = cfg.load == Load::kCpAsync && (along_k || !vectors_);
    const int across = by_element ? Map<1>::across() : Map<kVector>::across();
    const int line = by_element ? Map<1>::line() : Map<kVector>::line();
    const int o = along_k ? line : across;
    k_ = along_k ? across : line;
    outer_left_ = inside(first_outer, operand.outer, extent) - o;
    next_ = operand.data +
            (along_k ? (first_outer + o) * stride_ + k_ : k_ * stride_ + first_outer + o);
    place_ = k_ * pitch + o;
  }

  // Begins to copy the next tile to (k, outer) `tile`; `k_left`: what is left of k from its first
  // element on.
  __device__ void copy_next(T* tile, long long k_left) {
    if (vectors_ && !along_k) {
      copy<kVector>(tile + place_, inside(0, k_left, cfg.block.k));
    } else {
      copy<1>(tile + place_, inside(0, k_left, cfg.block.k));
    }
    next_ += along_k ? cfg.block.k : cfg.block.k * stride_;
  }

  // The same in two halves, through registers.
  __device__ void fetch_next(long long k_left) {
    const int k_inside = inside(0, k_left, cfg.block.k);
    const T* from = next_;
#pragma unroll
    for (int i = 0; i < Map<kVector>::kCount; ++i) {
      const int there = elements_there<kVector>(i, k_inside);
      if (vectors_ && there >= kVector) {
        chunks_[i] = *reinterpret_cast<const Vector<T>*>(from);
      } else {
#pragma unroll
        for (int e = 0; e < kVector; ++e) chunks_[i].x[e] = e < there ? from[e] : T{0};
      }
      from += Map<kVector>::kLines * stride_;
    }
    next_ += along_k ? cfg.block.k : cfg.block.k * stride_;
  }
  __device__ void put(T* tile) const {
    T* to = tile + place_;
#pragma unroll
    for (int i = 0; i < Map<kVector>::kCount; ++i) {
      if constexpr (along_k) {
#pragma unroll
        for (int e = 0; e < kVector; ++e) to[e * pitch] = chunks_[i].x[e];
      } else {
        *reinterpret_cast<Vector<T>*>(to) = chunks_[i];
      }
      to += Map<kVector>::kLines * (along_k ? 1 : pitch);
    }
  }

 private:
  static constexpr int kVector = cfg.kVector;
  template <int width>
  using Map = ChunkMap<cfg, extent, along_k, width>;

  // How many elements of this thread's chunk i, counted from its first one, lie inside of the
  // matrix; more than the chunk has, or less than 0.
  template <int width>
  __device__ int elements_there(int i, int k_inside) const {
    const int line = i * Map<width>::kLines;
    if (along_k) return line < outer_left_ ? k_inside - k_ : 0;
    return k_ + line < k_inside ? outer_left_ : 0;
  }

  template <int width>
  __device__ void copy(T* to, int k_inside) const {
    const T* from = next_;
#pragma unroll
    for (int i = 0; i < Map<width>::kCount; ++i) {
      const int there = elements_there<width>(i, k_inside);
      const int count = there < 0 ? 0 : there < width ? there : width;
      const unsigned bytes = static_cast<unsigned>(count * sizeof(T));
      if constexpr (width == 1) {
        ptx::cp_async<sizeof(T)>(to, from, bytes);
      } else {
        ptx::cp_async_past_l1(to, from, bytes);
      }
      from += Map<width>::kLines * stride_;
      to += Map<width>::kLines * (along_k ? 1 : pitch);
    }
  }

  bool vectors_;
  int outer_left_;  // of the tile inside of the matrix, from this thread's first chunk on
  int k_, place_;   // of that chunk in the tile
  long long stride_;
  const T* next_;  // that chunk of the next tile
  Vector<T> chunks_[Map<kVector>::kCount];
};

template <auto cfg>
struct Stage {
  using T = typename decltype(cfg)::Element;
  alignas(16) T a[cfg.block.k][cfg.pitch_a()];  // (k, m)
  alignas(16) T b[cfg.block.k][cfg.pitch_b()];  // (k, n)
};

// The stages in shared memory, and what fills them. All threads of the block call everything.
template <auto cfg>
class Ring {
 public:
  using T = typename decltype(cfg)::Element;

  __device__ Ring(Stage<cfg>* stages, const Operand<T>& a, const Operand<T>& b, long long first_m,
                  long long first_n)
      : stages_(stages), a_(a, first_m), b_(b, first_n), k_left_(a.k) {
#pragma unroll
    for (int stage = 0; stage < kAhead; ++stage) fill(stage);
    finish_next();
  }

  __device__ const Stage<cfg>& current() const { return stages_[current_]; }

  // Begins to bring another tile; beyond the last one they are zeros, and nothing is read.
  __device__ void start_next() { fill(current_ == 0 ? cfg.stages - 1 : current_ - 1); }

  // Makes the next tile the current one, which nobody reads any more.
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

  // Whether the current tile is one of the matrix.
  __device__ bool has_tile() const { return k_left_ > -kAhead * cfg.block.k; }

  // No copy may be on its way when the block ends.
  __device__ void drain() const {
    if constexpr (cfg.load == Load::kCpAsync) ptx::cp_async_wait_all();
  }

 private:
  static constexpr int kAhead = cfg.stages - 1;  // tiles on their way

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
  Loader<cfg, cfg.block.m, cfg.majors.a == Major::kK, cfg.pitch_a()> a_;
  Loader<cfg, cfg.block.n, cfg.majors.b == Major::kK, cfg.pitch_b()> b_;
  long long k_left_;  // from the next tile on
  int current_ = cfg.stages - 1;
};

// Element i of a thread's outputs along one side, counted from the warp's tile: vectors of `width`,
// `lanes` vectors apart.
constexpr int element_of(int width, int lanes, int place, int i) {
  return (i / width * lanes + place) * width + i % width;
}

// One step of k in registers.
template <auto cfg>
struct Fragments {
  using T = typename decltype(cfg)::Element;
  Vector<T> a[cfg.thread.m / cfg.kVector], b[cfg.thread.n / cfg.kVector];

  // (row, col): the thread's first output in the block's tile.
  __device__ void load(const Stage<cfg>& stage, int k, int row, int col) {
#pragma unroll
    for (int i = 0; i < cfg.thread.m / cfg.kVector; ++i) {
      a[i] = *reinterpret_cast<const Vector<T>*>(&stage.a[k][row + i * cfg.lanes.m * cfg.kVector]);
    }
#pragma unroll
    for (int j = 0; j < cfg.thread.n / cfg.kVector; ++j) {
      b[j] = *reinterpret_cast<const Vector<T>*>(&stage.b[k][col + j * cfg.lanes.n * cfg.kVector]);
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

// sum += A * B of the block's tile. Fragments are loaded one step ahead, unless registers hold the
// next tile on its way: then there is no room for a second set.
template <auto cfg, class T>
__device__ void multiply(T (&sum)[cfg.thread.m][cfg.thread.n], Ring<cfg>& ring, int row, int col) {
  constexpr int depth = cfg.block.k, ahead = cfg.load == Load::kPlain ? 0 : 1, sets = ahead + 1;
  Fragments<cfg> fragments[sets];  // of step l in set l % sets
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

// Where D is written, and C read.
template <class T>
struct Output {
  const T* c;  // read only when beta is not zero: NaN in C must not reach D
  T* d;
  long long c_row, d_row, rows, cols;
  T alpha, beta;
  bool vectors;

  __device__ T blend(T sum, T old) const { return alpha * sum + beta * old; }

  // Neighbouring outputs of a row; col is a multiple of their number.
  __device__ void store(long long row, long long col, const T* sum) const {
    constexpr int kVector = 16 / sizeof(T);
    if (row >= rows) return;
    const int there = inside(col, cols, kVector);
    T* to = d + row * d_row + col;
    const T* from = c + row * c_row + col;
    if (vectors && there == kVector) {
      Vector<T> out;
      if (beta == 0) {
#pragma unroll
        for (int e = 0; e < kVector; ++e) out.x[e] = alpha * sum[e];
      } else {
        out = *reinterpret_cast<const Vector<T>*>(from);
#pragma unroll
        for (int e = 0; e < kVector; ++e) out.x[e] = blend(sum[e], out.x[e]);
      }
      store_vector(to, out);
    } else {
#pragma unroll
      for (int e = 0; e < kVector; ++e) {
        if (e < there) to[e] = beta == 0 ? alpha * sum[e] : blend(sum[e], from[e]);
      }
    }
  }
};

template <class T>
__device__ Output<T> output_of(const GemmParams& p) {
  const bool vectors =
      allows_vectors<T>(p.d, p.d_row) && (p.beta == 0 || allows_vectors<T>(p.c, p.c_row));
  return {static_cast<const T*>(p.c), static_cast<T*>(p.d),   p.c_row, p.d_row, p.m, p.n,
          static_cast<T>(p.alpha),    static_cast<T>(p.beta), vectors};
}

// The tile of this block. Groups of eight tile rows are walked down each column of tiles first:
// what the tiles in flight read of A and B is shared in the L2.
__device__ inline tile::Coord<long long> tile_of(long long tiles_m, long long tiles_n) {
  constexpr int kGroup = 8;
  const long long tile = blockIdx.x, tiles_per_group = kGroup * tiles_n;
  const long long first = tile / tiles_per_group * kGroup, in_group = tile % tiles_per_group;
  const int rows = inside(first, tiles_m, kGroup);
  return {first + in_group % rows, in_group / rows};
}

template <auto cfg>
__device__ void run(const GemmParams& p) {
  using T = typename decltype(cfg)::Element;
  static_assert(is_legal(cfg));
  __shared__ Stage<cfg> stages[cfg.stages];
  const tile::Coord<long long> at =
      tile_of((p.m + cfg.block.m - 1) / cfg.block.m, (p.n + cfg.block.n - 1) / cfg.block.n);
  const long long first_m = at.m * cfg.block.m, first_n = at.n * cfg.block.n;
  const int warp = threadIdx.x / 32;
  const tile::Coord<> lane = tile::lane_coord(cfg.lanes, threadIdx.x % 32);
  const int row = warp / cfg.warps.n * (cfg.block.m / cfg.warps.m) + lane.m * cfg.kVector;
  const int col = warp % cfg.warps.n * (cfg.block.n / cfg.warps.n) + lane.n * cfg.kVector;

  T sum[cfg.thread.m][cfg.thread.n] = {};
  if (p.k > 0) {  // else A and B are not read
    const Operand<T> a{static_cast<const T*>(p.a), p.m, p.k,
                       cfg.majors.a == Major::kK ? p.a_row : p.a_col};
    const Operand<T> b{static_cast<const T*>(p.b), p.n, p.k,
                       cfg.majors.b == Major::kK ? p.b_col : p.b_row};
    Ring<cfg> ring(stages, a, b, first_m, first_n);
    multiply<cfg>(sum, ring, row, col);
  }
  const Output<T> output = output_of<T>(p);
#pragma unroll
  for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
    for (int j = 0; j < cfg.thread.n; j += cfg.kVector) {
      output.store(first_m + row + element_of(cfg.kVector, cfg.lanes.m, 0, i),
                   first_n + col + j * cfg.lanes.n, &sum[i][j]);
    }
  }
}

// One name space for each image, whose entries are its rows.
namespace f32_sm75 {
using portable::run;
}
namespace f32_sm80 {
using portable::run;
}
namespace f64_sm75 {
using portable::run;
}
namespace f64_sm80 {
using portable::run;
}

}  // namespace tessera::portable
