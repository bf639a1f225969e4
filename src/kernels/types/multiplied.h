// The element types of kernels on tensor cores, one row each: what is multiplied, and what D is
// stored as. Nothing else says which of them belongs to which type of a problem. Pure C++.
#pragma once

#include "base/types.h"
#include "kernels/ptx/matrix_type.h"
#include "launch/tensor_map.h"

namespace tessera::types {

// An operand of mma or wgmma.
struct MultipliedRow {
  ptx::MatrixType type;
  ElementType element;     // in memory
  TensorType tensor;       // of its tensor map
  const char* repack;      // the pass that copies an operand into another layout
  bool is_taken_across_k;  // HW: by wgmma out of shared memory; else along k alone
};

// HW: a map of TFLOAT32 rounds floats to nearest on their way; wgmma would truncate them.
inline constexpr MultipliedRow kMultiplied[] = {
    {ptx::MatrixType::kBF16, ElementType::kBf16, TensorType::kBf16, "repack_halves", true},
    {ptx::MatrixType::kF16, ElementType::kF16, TensorType::kF16, "repack_halves", true},
    {ptx::MatrixType::kTF32, ElementType::kF32, TensorType::kTf32, "repack", false},
};

// Null for a type that no such kernel multiplies.
constexpr const MultipliedRow* find_multiplied(ptx::MatrixType type) {
  for (const MultipliedRow& row : kMultiplied) {
    if (row.type == type) return &row;
  }
  return nullptr;
}
constexpr const MultipliedRow* find_multiplied(ElementType element) {
  for (const MultipliedRow& row : kMultiplied) {
    if (row.element == element) return &row;
  }
  return nullptr;
}

}  // namespace tessera::types
