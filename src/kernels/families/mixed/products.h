// The sums of one warp, and the products of one chunk of k that are added to them.
#pragma once

#include "kernels/families/mixed/loads.h"
#include "kernels/ptx/mma.h"

namespace tessera::mixed {

// Fragments of 16 rows and 8 lines. If a CTA has 8 rows, the upper half is zeros and not kept.
template <auto cfg>
struct Sums {
  static constexpr int kRowPieces = (cfg.rows + kRows - 1) / kRows;
  static constexpr int kPieces = cfg.lines / kLines;
  static constexpr int kKept = cfg.rows < kRows ? 2 : 4;
  float of[kRowPieces][kPieces][kKept] = {};
};

// Adds the products of a chunk to a warp's sums, for 16 rows at a time, whose terms `of_rows`
// returns. One chain adds all terms, the small ones first, so that the large ones are truncated no
// more often than in a separate chain. WHY all lines in turn: each has a chain, in which an
// instruction waits for the previous one.
template <auto cfg, class OfRows>
__device__ void multiply(Sums<cfg>& sums, const NarrowChunk<cfg.lines>& narrow, OfRows of_rows) {
#pragma unroll
  for (int rows = 0; rows < Sums<cfg>::kRowPieces; ++rows) {
    const Terms terms = of_rows(rows);
    float chains[Sums<cfg>::kPieces][4] = {};
#pragma unroll
    for (int step = 0; step < 2 * kTerms; ++step) {
      const int term = kTerms - 1 - step / 2, half = step % 2;
#pragma unroll
      for (int piece = 0; piece < Sums<cfg>::kPieces; ++piece) {
        const std::uint32_t* const from =
            &narrow.of_block[piece / kPiecesOfBlock]
                            [kWordsOfPiece * (piece % kPiecesOfBlock) + 2 * half];
        const std::uint32_t b[2] = {from[0], from[1]};
        ptx::mma_m16n8k16<ptx::MatrixType::kBF16>(chains[piece], terms.of[term][half], b);
      }
    }
#pragma unroll
    for (int piece = 0; piece < Sums<cfg>::kPieces; ++piece) {
#pragma unroll
      for (int i = 0; i < Sums<cfg>::kKept; ++i) sums.of[rows][piece][i] += chains[piece][i];
    }
  }
}

}  // namespace tessera::mixed
