// Sums and differences with carry. The condition code is a predicate. Each operation has two pure
// functions: one returns the result, the other the carry or borrow out.
#pragma once

#include "vgpu/exec/ops/integer.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

__extension__ using u128 = unsigned __int128;

template <class T>
inline T add_with(T a, T b, bool carry) {
  return T(a + b + T(carry));
}
template <class T>
inline bool carry_of_add(T a, T b, bool carry) {
  return ((u128(a) + b + carry) >> kBits<T>) != 0;
}
template <class T>
inline T sub_with(T a, T b, bool borrow) {
  return T(a - b - T(borrow));
}
template <class T>
inline bool borrow_of_sub(T a, T b, bool borrow) {
  return u128(a) < u128(b) + borrow;
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
