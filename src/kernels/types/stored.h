// The element types that kernels store, one row each: bytes, and the name that a template argument
// has in generated code. kernels/types/storage.h has the device's half. Pure C++.
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
};

// Null for a type that no kernel stores.
constexpr const StoredRow* find_stored(ElementType element) {
  for (const StoredRow& row : kStored) {
    if (row.element == element) return &row;
  }
  return nullptr;
}

// Of a stored type; anything else does not compile as a constant.
constexpr int bytes_of(ElementType element) { return find_stored(element)->bytes; }

}  // namespace tessera::types
