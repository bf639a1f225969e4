// Draws problems that no kernel was tuned for. Kernels can be tuned to a list of shapes, but not to
// a distribution. The distribution's weights are fixed, and each seed draws other problems from it.
// Pure: the same seed gives the same cells on any machine.
//
//   types        BF16 30 %, FP16 15, TF32 15, FP32 20, FP64 20
//   classes      squares 10 %, transformer layers 25 (half with at most 128 tokens), attention and
//                vocabulary 10, factorisation updates 10, convolutions 10, thin, wide and long k
//                15, batches, shared operands and pointer arrays 15, bias and activation 5
//   row strides  multiples of 16 elements 60 %, of 2, 4 or 8 25, padded 5, odd 10
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"

namespace tessera::lab {

enum class CellClass {
  kSquare,
  kLayer,
  kAttention,  // and vocabulary
  kUpdate,     // update of a factorisation
  kConvolution,
  kSlender,  // thin, wide, long k
  kBatch,
  kEpilogue,
};
std::string_view name_of(CellClass kind);

enum class RowStride {
  kSixteen,  // multiples of 16 elements, rows without gaps where a size may be chosen
  kEven,     // odd multiples of 2, 4 or 8
  kPadded,   // rows of a larger matrix, multiples of 16
  kOdd,
};
std::string_view name_of(RowStride stride);

struct DrawnCell {
  int number = 0;  // its place in the suite
  CellClass kind = CellClass::kSquare;
  RowStride stride = RowStride::kSixteen;
  std::string from;         // "Llama 3 8B, down, forward", "shared B"; may be empty
  std::int64_t tokens = 0;  // for layers, attention and vocabulary
  Problem problem;          // leading dimensions filled in
  bool in_place = false;    // D is C
};

inline constexpr double kLongestCallMs = 5;
inline constexpr double kLargestCallBytes = 8.0 * (std::int64_t{1} << 30);

// Returns the time of a call at usual rates of a GPU of 2023 (cuBLAS on an H100). It only decides
// which cells are drawn; reports never use it.
double estimated_ms(const Problem& problem);
// Returns the bytes of A, B, C and D, including gaps between their rows.
double operand_bytes(const Problem& problem);

// Returns `count` cells. All weights are met as closely as whole numbers of cells allow, also for
// each type by itself. The seed draws the order of the cells, so that the first cells alone are a
// fair sample. Throws kBadArgument if `count` is not 1 ... 100000.
std::vector<DrawnCell> draw_suite(std::uint64_t seed, int count);

}  // namespace tessera::lab
