// FP32 operands of any strides in two TF32 terms, as wgmma reads them. Threads make them: tensor
// copies could not. Elements come in by asynchronous copies, some stages ahead, and are split on
// their way from there to the tile.
//
// WHY TF32: it has the exponents of FP32, so numbers of any size keep their digits, and nothing is
// scaled. A step of wgmma is half as fast as that of FP16 terms.
#pragma once

#include "kernels/copy/strided_operand.h"
#include "kernels/ptx/mma.h"
#include "kernels/tile/shared_tile.h"

namespace tessera::copy {

// Elements of k in a row of 128 bytes: their high terms, then their low ones.
inline constexpr int kTf32K = 16;

// x is high + low but for 2^-23 of it. Not for infinities and NaN.
struct Tf32Terms {
  float high, low;

  __device__ explicit Tf32Terms(float x) {
    constexpr std::uint32_t kInfinity = 0x7f800000, kKept = 0xffffe000;
    std::uint32_t bits = ptx::to_tf32(__float_as_uint(x));
    if ((bits & kInfinity) == kInfinity) bits = __float_as_uint(x) & kKept;  // rounded too far
    high = __uint_as_float(bits);
    low = __uint_as_float(ptx::to_tf32(__float_as_uint(x - high)));
  }
};

// Elements as they are: rows along k. Pieces of 16 bytes are exchanged within a row, so that lanes
// along rows meet in fewer banks.
template <int outer>
struct RawTile {
  float4 piece[outer][kTf32K / 4];

  __device__ float4& at(int row, int number) { return piece[row][number ^ (row / 2 % 4)]; }

  // Starts the copies of `threads` threads; lanes lie along what is contiguous.
  template <int threads>
  __device__ void load(const StridedOperand& from, int first_row, int first_k) {
    if (from.has_fours()) {
#pragma unroll 1
      for (int i = threadIdx.x; i < outer * (kTf32K / 4); i += threads) {
        const int row = i / (kTf32K / 4), number = i % (kTf32K / 4);
        from.template copy<4>(&at(row, number).x, first_row + row, first_k + 4 * number);
      }
      return;
    }
    const bool along_k = from.by_k == 1;
#pragma unroll 1
    for (int i = threadIdx.x; i < outer * kTf32K; i += threads) {
      const int row = along_k ? i / kTf32K : i % outer, k = along_k ? i % kTf32K : i / outer;
      from.template copy<1>(&at(row, k / 4).x + k % 4, first_row + row, first_k + k);
    }
  }

  // HW: rows of 128 bytes, whose pieces of 16 are exchanged by the number of the row.
  template <int threads>
  __device__ void split(
      tile::SharedTile<ptx::MatrixType::kTF32, outer, 2 * kTf32K, ptx::Major::kK>& to) {
#pragma unroll 1
    for (int i = threadIdx.x; i < outer * (kTf32K / 4); i += threads) {
      const int row = i / (kTf32K / 4), number = i % (kTf32K / 4);
      const float4 x = at(row, number);
      const Tf32Terms a(x.x), b(x.y), c(x.z), d(x.w);
      auto* const pieces = reinterpret_cast<float4*>(to.bytes + row * tile::kRowBytes);
      pieces[number ^ (row % 8)] = {a.high, b.high, c.high, d.high};
      pieces[(number + kTf32K / 4) ^ (row % 8)] = {a.low, b.low, c.low, d.low};
    }
  }
};

}  // namespace tessera::copy
