// The configs of the kernels that multiply a BF16 matrix, unconverted, with a few rows of FP32.
#pragma once

#include <algorithm>

#include "base/config.h"

namespace tessera::mixed {

inline constexpr int kPortableArch = 90;  // SM 9.0: clusters, and launches that start early

inline constexpr int kBlock = 32;  // lines of the BF16 matrix that a warp loads together
inline constexpr int kChunk = 32;  // k of one load, and of one chain of products
inline constexpr int kRows = 16;   // rows of FP32 in one MMA; if a CTA has 8, the others are zeros
inline constexpr int kLines = 8;   // lines of the BF16 matrix in one MMA
inline constexpr int kTerms = 3;   // BF16 numbers that hold one FP32 number
inline constexpr int kStage = 4;   // chunks whose terms a CTA prepares together
inline constexpr int kMostCtas = 8;  // HW: the most CTAs of a cluster on any GPU that has clusters

struct Config {
  BlockTile block;  // a tile of D, and the k that its warps multiply at a time
  int warps;        // warps of a CTA
  int lines;        // lines of the BF16 matrix that a warp multiplies
  int rows;         // rows of FP32 that a CTA multiplies
  int loads;        // chunks of the BF16 matrix that a warp loads ahead
  int ctas;         // CTAs per SM, which limits the registers of a thread

  constexpr int threads() const { return 32 * warps; }
  constexpr int ctas_per_sm() const { return ctas; }
  // Whether the CTA splits FP32 numbers into terms once for all of its warps, which then have
  // different lines. If not, each warp splits the numbers that it needs, and warps may share k.
  constexpr bool shares_terms() const { return rows >= kRows; }
  constexpr int pitch() const { return lines + 1; }  // floats between rows of sums
  constexpr int sums_bytes() const { return 4 * warps * rows * pitch() + 16; }
  constexpr int stage_bytes() const { return kStage * rows * kChunk * kTerms * 2; }
  constexpr int ring_bytes() const { return warps * loads * lines * kChunk * 2; }
  constexpr int shared_bytes() const {
    return shares_terms() ? std::max(sums_bytes(), 2 * stage_bytes() + ring_bytes()) : sums_bytes();
  }
};

constexpr bool is_legal(const Config& c) {
  constexpr int kShared = 227 * 1024;  // HW: per CTA, compute capability 9.0
  const int extent = c.shares_terms() ? c.lines * c.warps : c.lines;
  const bool lines_are_rows = c.block.m == extent && c.block.n == c.rows;
  const bool lines_are_columns = c.block.n == extent && c.block.m == c.rows;
  const int depth = c.shares_terms() ? kChunk * kStage : kChunk * c.warps;
  // Registers: sums, chunks that are being loaded, and about 60 others in the loop.
  const int of_chunk = c.lines / 2 + (c.shares_terms() ? 0 : c.rows);
  const int chunks = c.shares_terms() ? 1 : c.loads;
  const int registers = c.rows * c.lines / 32 + chunks * of_chunk + 60;
  const int items = kStage * c.rows / kRows;  // parts of a stage that a warp cuts into terms
  const bool has_shares =
      !c.shares_terms() || (items % c.warps == 0 && c.loads % 2 == 0 && kStage % c.loads == 0 &&
                            kStage % (items / c.warps) == 0);
  return (lines_are_rows || lines_are_columns) && c.block.k == depth && has_shares &&
         c.lines % kBlock == 0 && (c.rows == kRows / 2 || c.rows % kRows == 0) && c.loads >= 1 &&
         registers <= 255 && registers * c.threads() * c.ctas <= 64 * 1024 &&
         c.ctas * (c.shared_bytes() + 1024) <= kShared + 1024;
}

inline constexpr auto kBf16F32 =
    rows_of<Config>({{"8_columns", {{32, 8, 256}, 8, 32, 8, 2, 2}},
                     {"16_columns", {{256, 16, 128}, 4, 64, 16, 4, 2}},
                     {"32_columns", {{256, 32, 128}, 4, 64, 32, 4, 2}}});
inline constexpr auto kF32Bf16 = rows_of<Config>({{"8_rows", {{8, 32, 256}, 8, 32, 8, 2, 2}},
                                                  {"16_rows", {{16, 256, 128}, 4, 64, 16, 4, 2}},
                                                  {"32_rows", {{32, 256, 128}, 4, 64, 32, 4, 2}}});

}  // namespace tessera::mixed
