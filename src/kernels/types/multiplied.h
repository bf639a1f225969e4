// The element types of operands on tensor cores, one row each. This is the only table that relates
// tensor-core types to the types of a problem. Pure C++.
#pragma once

#include "base/types.h"
#include "kernels/ptx/matrix_type.h"
#include "launch/tensor_map.h"

namespace tessera::types {

// An operand of mma or wgmma.
struct MultipliedRow {
  ptx::MatrixType type;
  ElementType element;     // the type in memory
  TensorType tensor;       // the type in its tensor map
  const char* repack;      // the pass that copies an operand into another layout
  bool is_taken_across_k;  // HW: wgmma reads the type from shared memory even across k
};

// HW: a tensor copy with a TFLOAT32 map rounds floats to nearest; wgmma would truncate them.
inline constexpr MultipliedRow kMultiplied[] = {
    {ptx::MatrixType::kBF16, ElementType::kBf16, TensorType::kBf16, "repack_halves", true},
    {ptx::MatrixType::kF16, ElementType::kF16, TensorType::kF16, "repack_halves", true},
    {ptx::MatrixType::kTF32, ElementType::kF32, TensorType::kTf32, "repack", false},
    {ptx::MatrixType::kS8, ElementType::kS8, TensorType::kU8, "repack_bytes", false},
};

// Returns the row of a type; null if no tensor-core kernel multiplies it.
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
