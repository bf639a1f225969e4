// How a lane loads its part of a chunk of k: from a BF16 matrix that is contiguous along k, along
// its lines or neither, and from rows of FP32.
//
// Lane 4g + t of a warp holds k = 8t ... 8t+7 of each chunk, of line g of each fragment of 8 lines
// and of rows g and g + 8. The instruction numbers k differently, but equally for A and B. WHY
// lines are columns of the instruction: the elements that one load reads from a line are then whole
// fragments in adjacent registers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/families/mixed/params.h"
#include "kernels/families/mixed/terms.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/schedule/product_of.h"

namespace tessera::mixed {

inline constexpr int kPiecesOfBlock = kBlock / kLines;  // fragments in a block of lines
inline constexpr int kWordsOfPiece = kOfLane / 2;       // 32-bit words of one lane, in a chunk
inline constexpr int kWords = kPiecesOfBlock * kWordsOfPiece;

// One product of the batch. WHY sizes stay in `p`: kernel parameters need no registers.
struct Matrices {
  const Params& p;
  const std::uint16_t* narrow;
  const float* wide;
};

__device__ inline Matrices matrices_of(const Params& p, const schedule::Addresses& at) {
  const bool is_a = p.bf16_is_a != 0;
  return {p, static_cast<const std::uint16_t*>(is_a ? at.a : at.b),
          static_cast<const float*>(is_a ? at.b : at.a)};
}

// Returns which line of the warp is column `column` of the instruction for fragment `piece`.
__device__ inline int line_of(int piece, int column, int loads) {
  const int block = piece / kPiecesOfBlock, inside = piece % kPiecesOfBlock;
  return block * kBlock +
         (loads == kAlongLines ? kPiecesOfBlock * column + inside : kLines * inside + column);
}

// A warp's chunk of the BF16 matrix: blocks of 32 lines, as pairs along k.
template <int lines>
struct NarrowChunk {
  std::uint32_t of_block[lines / kBlock][kWords];
};

// Loads four neighbours across k. All four lines must exist. Returns zeros beyond the end of k.
__device__ inline uint2 load_across(const Matrices& m, long long line, long long k) {
  if (k >= m.p.gemm.k) return {0, 0};
  return __ldg(reinterpret_cast<const uint2*>(m.narrow + line + k * m.p.narrow_k));
}

// Loads a pair along k of one line, one element at a time.
__device__ inline std::uint32_t load_pair(const Matrices& m, long long line, long long k) {
  const std::uint16_t* const from = m.narrow + line * m.p.narrow_line + k * m.p.narrow_k;
  const std::uint32_t low = k < m.p.gemm.k ? __ldg(from) : 0;
  const std::uint32_t high = k + 1 < m.p.gemm.k ? __ldg(from + m.p.narrow_k) : 0;
  return low | high << 16;
}

// Loads one chunk with checks for the end of lines and k, in the format of a whole chunk.
template <int lines>
__device__ void load_narrow(NarrowChunk<lines>& chunk, const Matrices& m, long long first,
                            long long k, int group, int loads) {
#pragma unroll
  for (int block = 0; block < lines / kBlock; ++block, first += kBlock) {
    auto& to = chunk.of_block[block];
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      if (loads == kAlongLines) {
        const uint2 x = load_across(m, first + 4 * group, k + i);
        to[2 * i] = x.x, to[2 * i + 1] = x.y;
      } else {
        const long long wanted = first + 8 * (i / 2) + group;
        // A line beyond the last one is replaced by the last; its sums are not stored.
        const long long line = wanted < m.p.lines ? wanted : m.p.lines - 1;
        to[2 * i] = load_pair(m, line, k + 4 * (i % 2));
        to[2 * i + 1] = load_pair(m, line, k + 4 * (i % 2) + 2);
      }
    }
  }
}

// A warp's chunk in shared memory. Each lane reads only what it has copied itself.
template <int lines>
struct NarrowSlot {
  uint4 of[lines / kLines][32];  // along k a lane's eight numbers, across k twice four

  template <bool is_across>
  __device__ NarrowChunk<lines> take() const {
    NarrowChunk<lines> chunk;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < lines / kLines * (is_across ? 2 : 1); ++i) {
      auto& to = chunk.of_block[i * (is_across ? 2 : 4) / kWords];
      const int at = i * (is_across ? 2 : 4) % kWords;
      if constexpr (is_across) {
        const uint2 x = reinterpret_cast<const uint2*>(of)[i * 32 + lane];
        to[at] = x.x, to[at + 1] = x.y;
      } else {
        const uint4 x = of[i][lane];
        to[at] = x.x, to[at + 1] = x.y, to[at + 2] = x.z, to[at + 3] = x.w;
      }
    }
    return chunk;
  }
};

// Loads whole chunks for a warp whose lines all exist. WHY separate from loads with checks: in the
// same loop, loads with checks would take registers for addresses.
template <int lines, bool is_across>
struct NarrowSource {
  static constexpr int kOfBlock = is_across ? kOfLane : kPiecesOfBlock;  // accesses of a lane
  using Access = std::conditional_t<is_across, uint2, uint4>;
  const std::uint16_t* at;
  long long pitch;  // elements between lines, or along k

  __device__ NarrowSource(const Matrices& m, long long line, long long k)
      : pitch(is_across ? m.p.narrow_k : kLines * m.p.narrow_line) {
    const int group = threadIdx.x % 32 / 4;
    k += threadIdx.x % 4 * kOfLane;
    line += is_across ? 4 * group : group;
    at = m.narrow + line * m.p.narrow_line + k * m.p.narrow_k;
  }

  // Calls visit(number, address) for the addresses of a chunk, one after the other. WHY one address
  // that is advanced: multiples of the pitch would stay in registers.
  template <class Visit>
  __device__ void for_each(Visit visit) const {
#pragma unroll
    for (int block = 0; block < lines / kBlock; ++block) {
      const std::uint16_t* from = at + block * (is_across ? kBlock : kPiecesOfBlock * pitch);
#pragma unroll
      for (int i = 0; i < kOfBlock; ++i, from += pitch) visit(block * kOfBlock + i, from);
    }
  }

  __device__ void load(NarrowChunk<lines>& chunk) const {
    for_each([&](int i, const std::uint16_t* from) {
      auto* const to = &chunk.of_block[i / kOfBlock][i % kOfBlock * (kWords / kOfBlock)];
      const Access x = __ldg(reinterpret_cast<const Access*>(from));
      to[0] = x.x, to[1] = x.y;
      if constexpr (!is_across) to[2] = x.z, to[3] = x.w;
    });
  }

  __device__ void copy(NarrowSlot<lines>& slot) const {
    auto* const to = reinterpret_cast<Access*>(slot.of) + threadIdx.x % 32;
    for_each([&](int i, const std::uint16_t* from) {
      if constexpr (is_across) {
        ptx::cp_async<8>(to + i * 32, from);
      } else {
        ptx::cp_async_past_l1(to + i * 32, from);
      }
    });
  }
};

// Turns values loaded across k into pairs along k. The pairs of a line are adjacent words.
template <int lines>
__device__ void pair_along_k(NarrowChunk<lines>& chunk) {
#pragma unroll
  for (int block = 0; block < lines / kBlock; ++block) {
    auto& x = chunk.of_block[block];
    std::uint32_t pairs[kWords];
#pragma unroll
    for (int i = 0; i < kPiecesOfBlock; ++i) {
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        pairs[4 * i + pair] =
            __byte_perm(x[4 * pair + i / 2], x[4 * pair + 2 + i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
      }
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) x[i] = pairs[i];
  }
}

// Returns the row of FP32 that a lane reads: the last row if `row` is beyond it (and not stored).
__device__ inline const float* wide_row(const Matrices& m, long long row) {
  return m.wide + (row < m.p.rows ? row : m.p.rows - 1) * m.p.wide_row;
}

// Loads eight numbers along k of a row, with zeros beyond the end of k.
__device__ inline void load_wide(float (&to)[kOfLane], const Matrices& m, const float* row,
                                 long long k) {
  const float* const from = row + k * m.p.wide_k;
  if (m.p.fp32_is_along_k != 0 && k + kOfLane <= m.p.gemm.k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float4 x = __ldg(reinterpret_cast<const float4*>(from) + half);
      to[4 * half] = x.x, to[4 * half + 1] = x.y;
      to[4 * half + 2] = x.z, to[4 * half + 3] = x.w;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) to[i] = k + i < m.p.gemm.k ? __ldg(from + i * m.p.wide_k) : 0;
}

// The work of a warp: its first line and row, and the parts of k `first`, `first` + `step`, ... A
// part is a chunk if each warp makes its own terms, else a stage.
struct Share {
  long long line, row;
  int first, step;
};

}  // namespace tessera::mixed
