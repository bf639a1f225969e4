// Four neighbouring elements as one access: 128 bits for floats, 64 bits for 16-bit types.
#pragma once

#include <type_traits>

namespace tessera::tile {

namespace detail {

template <class T>
struct alignas(4 * sizeof(T)) Four {
  T x, y, z, w;
};

}  // namespace detail

template <class T>
using Vec4 = std::conditional_t<std::is_same_v<T, float>, float4, detail::Four<T>>;

// Stores the values by one store; four doubles by two stores of 128 bits. WHY __stwb: the
// compiler merges a plain store of a float4 with a scalar path next to it, and emits four
// STG.32.
template <class T>
__device__ void store_vec4(T* to, Vec4<T> values) {
  if constexpr (std::is_same_v<T, float>) {
    __stwb(reinterpret_cast<float4*>(to), values);
  } else if constexpr (sizeof values == 8) {
    __stwb(reinterpret_cast<uint2*>(to), __builtin_bit_cast(uint2, values));
  } else if constexpr (sizeof values == 16) {
    __stwb(reinterpret_cast<uint4*>(to), __builtin_bit_cast(uint4, values));
  } else {
    static_assert(std::is_same_v<T, double>);
    __stwb(reinterpret_cast<double2*>(to), double2{values.x, values.y});
    __stwb(reinterpret_cast<double2*>(to) + 1, double2{values.z, values.w});
  }
}

template <class Vector>
__device__ void add(Vector& sum, const Vector& more) {
  sum = {sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w};
}

// Whether the base address and the row stride (in elements) allow accesses of a Vec4 at every
// fourth element of a row.
template <class T>
__device__ bool allows_vec4(const void* base, long long stride) {
  return reinterpret_cast<unsigned long long>(base) % (4 * sizeof(T)) == 0 && stride % 4 == 0;
}

}  // namespace tessera::tile
