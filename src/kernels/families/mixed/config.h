// Shapes of the kernels that multiply a BF16 matrix, as it is, with a few rows of FP32.
#pragma once

#include "base/config.h"

namespace tessera::mixed {

inline constexpr int kPortableArch = 90;  // clusters, and launches that start early

inline constexpr int kWarps = 8;
inline constexpr int kLines = 32;    // of the BF16 matrix that a warp multiplies
inline constexpr int kChunk = 32;    // of k at a time, whose sums are promoted
inline constexpr int kColumns = 8;   // of an instruction: rows of FP32
inline constexpr int kMostCtas = 8;  // HW: of a cluster, on any GPU that has them

struct Config {
  BlockTile block;  // of one warp; where all of them share k, of the CTA. Of a row-major D
  int columns;      // rows of FP32 that a CTA multiplies
  int stages;       // chunks of k that are on their way
  int ctas;         // per SM, that registers must suffice for

  constexpr int threads() const { return 32 * kWarps; }
  constexpr int ctas_per_sm() const { return ctas; }
};

constexpr bool is_legal(const Config& c) {
  const bool lines_are_rows = c.block.m == kLines && c.block.n == c.columns;
  const bool lines_are_columns = c.block.n == kLines && c.block.m == c.columns;
  // Sums, what is on its way, fragments, and what else the loop needs.
  const int registers = c.columns + c.stages * (16 + c.columns) + 40;
  return (lines_are_rows || lines_are_columns) && c.block.k == kChunk * kWarps &&
         c.columns % kColumns == 0 && c.stages >= 1 && registers <= 255 &&
         registers * c.threads() * c.ctas <= 64 * 1024;
}

inline constexpr auto kBf16F32 =
    rows_of<Config>({{"8_columns", {{kLines, 8, kChunk* kWarps}, 8, 2, 2}},
                     {"16_columns", {{kLines, 16, kChunk* kWarps}, 16, 4, 1}},
                     {"32_columns", {{kLines, 32, kChunk* kWarps}, 32, 2, 1}}});
inline constexpr auto kF32Bf16 =
    rows_of<Config>({{"8_rows", {{8, kLines, kChunk* kWarps}, 8, 2, 2}},
                     {"16_rows", {{16, kLines, kChunk* kWarps}, 16, 4, 1}},
                     {"32_rows", {{32, kLines, kChunk* kWarps}, 32, 2, 1}}});

}  // namespace tessera::mixed
