// A warp multiplies 16 rows of a matrix by a few vectors on tensor cores, with operands loaded
// directly from global memory to registers. The order of k within an instruction does not matter if
// it is the same for A and B. So a lane loads 16 adjacent bytes and passes them in the registers
// that belong to its lane, without exchanges between lanes and without shared memory.
#pragma once

#include "kernels/copy/neighbours.h"
#include "kernels/ptx/mma.h"
#include "kernels/types/multiplied.h"

namespace tessera::mainloop {

// A line (a row of the matrix, or a vector) from which a lane loads neighbours along k.
template <ElementType type>
struct LinesAlongK {
  using Memory = typename types::Storage<type>::Memory;
  const Memory* line;
  long long step;  // elements between neighbours in k
  int width;       // elements per access: 16 bytes, 8 bytes, 4 bytes or one element

  // Loads `count` elements from k on. Elements from `end` on are zeros.
  template <int count>
  __device__ void load(copy::Neighbours<type, count>& to, long long k, long long end) const {
    const Memory* const from = line + k * step;
    if (k + count > end) return to.load_some(from, step, k < end ? static_cast<int>(end - k) : 0);
    if (width == count) return to.load(from);
    if constexpr (sizeof(Memory) < 8) {
      if (width == count / 2) return to.template load_by<count / 2>(from);
    }
    if constexpr (sizeof(Memory) == 2) {
      if (width == 2) return to.template load_by<2>(from);
    }
    to.load_each(from, step);
  }
};

template <auto cfg>
class VectorMma {
 public:
  using Sum = typename types::Storage<cfg.in>::Sum;
  using Lines = LinesAlongK<cfg.in>;
  static constexpr int kGroups = cfg.vectors() / 8;

  // Adds products from k = `begin` to `end`: in each `distance` of k, the first cfg.ahead steps.
  __device__ void multiply(const Lines (&rows)[2], const Lines (&vectors)[kGroups], long long begin,
                           long long end, long long distance) {
    bool is_wide = true;  // all accesses have 16 bytes
    for (const Lines& of : rows) is_wide &= of.width == cfg.vector();
    for (const Lines& of : vectors) is_wide &= of.width == cfg.vector();
    const auto load = [&](Step& step, long long k) {
      const long long of_lane = k + threadIdx.x % 4 * cfg.vector();
      if (is_wide && k + cfg.block.k <= end) {
#pragma unroll
        for (int i = 0; i < 2; ++i) step.row[i].load(rows[i].line + of_lane);
#pragma unroll
        for (int i = 0; i < kGroups; ++i) step.vector[i].load(vectors[i].line + of_lane);
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i) rows[i].load(step.row[i], of_lane, end);
#pragma unroll
        for (int i = 0; i < kGroups; ++i) vectors[i].load(step.vector[i], of_lane, end);
      }
    };
    Step step[cfg.ahead];
#pragma unroll
    for (int i = 0; i < cfg.ahead; ++i) {
      load(step[i], begin + i * cfg.block.k);
    }
#pragma unroll 1
    for (; begin < end; begin += distance) {
#pragma unroll
      for (int i = 0; i < cfg.ahead; ++i) {
        add(step[i]);
        load(step[i], begin + distance + i * cfg.block.k);
      }
    }
  }

  // Calls f(row, vector, sum) for each sum of the lane.
  template <class F>
  __device__ void for_each(F&& f) const {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
#pragma unroll
      for (int i = 0; i < 4; ++i) f(g + i / 2 * 8, group * 8 + 2 * t + i % 2, sum_[group][i]);
    }
  }

 private:
  using Run = copy::Neighbours<cfg.in, cfg.vector()>;
  struct Step {
    Run row[2], vector[kGroups];
  };

  __device__ void add(const Step& step) {
#pragma unroll
    for (int i = 0; i < Run::kWords; i += 2) {
#pragma unroll
      for (int group = 0; group < kGroups; ++group) {
        const Run& x = step.vector[group];
        multiply(sum_[group],
                 {word(step.row[0], i), word(step.row[1], i), word(step.row[0], i + 1),
                  word(step.row[1], i + 1)},
                 {word(x, i), word(x, i + 1)});
      }
    }
  }

  // The type's row in the table of multiplied types; null for FP64. FP32 is rounded to TF32.
  static constexpr const types::MultipliedRow* kRow = types::find_multiplied(cfg.in);
  static constexpr bool kRounds = kRow && ptx::bits_of(kRow->type) == 32;

  __device__ static auto word(const Run& run, int i) {
    if constexpr (kRounds) {
      return ptx::to_tf32(__float_as_uint(run.word(i)));
    } else {
      return run.word(i);
    }
  }
  __device__ static void multiply(double (&sum)[4], const double (&a)[4], const double (&b)[2]) {
    ptx::mma_m16n8k8(sum, a, b);
  }
  __device__ static void multiply(float (&sum)[4], const std::uint32_t (&a)[4],
                                  const std::uint32_t (&b)[2]) {
    if constexpr (kRounds) {
      ptx::mma_m16n8k8_tf32(sum, a, b);
    } else {
      ptx::mma_m16n8k16<kRow->type>(sum, a, b);
    }
  }

  Sum sum_[kGroups][4] = {};
};

}  // namespace tessera::mainloop
