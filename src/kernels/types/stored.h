// The element types that kernels store, one row each: bytes, and the name as a template argument in
// generated code. kernels/types/storage.h has the device code for them. Pure C++.
#pragma once

#include "base/element_type.h"

namespace tessera::types {

struct StoredRow {
  ElementType element;
  int bytes;
  const char* argument;
};

inline constexpr StoredRow kStored[] = {
    {ElementType::kF64, 8, "tessera::ElementType::kF64"},
    {ElementType::kF32, 4, "tessera::ElementType::kF32"},
    {ElementType::kBf16, 2, "tessera::ElementType::kBf16"},
    {ElementType::kF16, 2, "tessera::ElementType::kF16"},
    {ElementType::kS32, 4, "tessera::ElementType::kS32"},
};

// Returns the row of a type; null if no kernel stores it.
constexpr const StoredRow* find_stored(ElementType element) {
  for (const StoredRow& row : kStored) {
    if (row.element == element) return &row;
  }
  return nullptr;
}

// Returns the bytes of a stored type. For other types, a constant expression does not compile.
constexpr int bytes_of(ElementType element) { return find_stored(element)->bytes; }

}  // namespace tessera::types
