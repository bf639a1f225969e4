// The element types: formats of numbers in memory. Sizes, names and ranges are in base/types.h;
// device code includes only this file.
#pragma once

namespace tessera {

enum class ElementType {
  kF64,
  kF32,
  kF16,
  kBf16,
  kE4m3,  // 8 bits, no infinities
  kE5m2,  // 8 bits, with infinities as in IEEE 754
  kS8,
  kU8,
  kS16,
  kU16,
  kS32,
  kU32,
  kS64,
  kU64,
  kMadeUp,  // for tests: all code must refuse this type
};

}  // namespace tessera
