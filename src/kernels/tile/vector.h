// Sixteen bytes of neighbouring elements, of any type, as one access of 128 bits.
#pragma once

namespace tessera::tile {

template <class T>
struct alignas(16) Vector {
  static constexpr int kWidth = 16 / sizeof(T);

  T x[kWidth];
};

// WHY __stwb: the compiler merges a plain store with a scalar path next to it into scalar stores.
__device__ inline void store_vector(float* to, const Vector<float>& v) {
  __stwb(reinterpret_cast<float4*>(to), {v.x[0], v.x[1], v.x[2], v.x[3]});
}
__device__ inline void store_vector(double* to, const Vector<double>& v) {
  __stwb(reinterpret_cast<double2*>(to), {v.x[0], v.x[1]});
}

// Whether the base address and the row stride (in elements) allow every vector of a row to be one
// access.
template <class T>
__device__ bool allows_vectors(const void* base, long long stride) {
  return reinterpret_cast<unsigned long long>(base) % 16 == 0 && stride % Vector<T>::kWidth == 0;
}

// The number of elements before `end` among the `count` elements from `at` on.
__device__ inline int inside(long long at, long long end, int count) {
  const long long left = end - at;
  return left <= 0 ? 0 : left < count ? static_cast<int>(left) : count;
}

}  // namespace tessera::tile
