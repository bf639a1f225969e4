// The launch after a product, for an epilogue that the product's own kernel did not apply. It reads
// sums that are not rounded yet: from D if D has the type of the sums, else from the workspace. So
// D is rounded only once, and every kernel can be used with every epilogue.
//
// A thread processes four neighbouring outputs at a time, in one access if base and rows allow it.
#include <cstdint>

#include "kernels/epilogue/finish.h"
#include "kernels/passes/finish_params.h"
#include "kernels/schedule/product_of.h"

namespace tessera::passes {

template <class T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) Four {
  T x[4];
};

// Whether base and row stride allow accesses of four elements, at every fourth element of a row.
template <class T>
__device__ bool takes_fours(const void* base, long long row) {
  return reinterpret_cast<unsigned long long>(base) % alignof(Four<T>) == 0 && row % 4 == 0;
}

template <class T>
__device__ Four<T> load_four(const T* from, int count, bool together) {
  if (together && count == 4) return *reinterpret_cast<const Four<T>*>(from);
  Four<T> four = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < count) four.x[i] = from[i];
  }
  return four;
}

template <class T>
__device__ void store_four(T* to, const Four<T>& four, int count, bool together) {
  if (together && count == 4) {
    *reinterpret_cast<Four<T>*>(to) = four;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < count) to[i] = four.x[i];
  }
}

// Loads an element of C in the type of sums. All threads of a launch take the same branch.
template <class Sum>
__device__ Sum load_c(ElementType type, const void* c, long long at) {
  using types::Storage;
  switch (type) {
    case ElementType::kF64:
      return static_cast<Sum>(Storage<ElementType::kF64>::load(c, at));
    case ElementType::kF32:
      return Storage<ElementType::kF32>::load(c, at);
    case ElementType::kBf16:
      return Storage<ElementType::kBf16>::load(c, at);
    default:
      return Storage<ElementType::kF16>::load(c, at);
  }
}

// The addresses and sums of one product of the batch.
template <class Sum>
struct Product {
  __device__ Product(const FinishParams& p, long long number)
      : at(schedule::addresses_of(p.gemm, p.batch, number)) {
    sums = p.sums ? static_cast<const Sum*>(p.sums) + number * p.sums_product
                  : static_cast<const Sum*>(at.d);
  }

  schedule::Addresses at;
  const Sum* sums;
};

// Computes outputs (row, column) ... (row, column + 3) of product `number`.
template <ElementType out, bool writes_x, class Sum>
__device__ void finish_four(const FinishParams& p, const Product<Sum>& of, long long number,
                            long long row, long long column) {
  using Storage = types::Storage<out>;
  using Memory = typename Storage::Memory;
  const GemmParams& g = p.gemm;
  const int count = g.n - column < 4 ? static_cast<int>(g.n - column) : 4;
  const Four<Sum> sums =
      load_four(of.sums + row * p.sums_row + column, count, takes_fours<Sum>(of.sums, p.sums_row));
  const epilogue::Finish before{p.finish.scale, p.finish.bias, Activation::kIdentity};
  const epilogue::Finishing<out> finished{writes_x ? before : p.finish};
  Four<Memory> four, x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i >= count) continue;
    Sum value = sums.x[i];
    if (g.beta != 0) {
      const long long at = row * g.c_row + column + i;
      value += static_cast<Sum>(g.beta) * load_c<Sum>(p.type_of_c, of.at.c, at);
    }
    value = finished(value, row, column + i);
    if constexpr (writes_x) {
      x.x[i] = Storage::rounded(value);
      value = epilogue::with_activation<epilogue::GpuMath, false>(
          p.finish.activation, [&](auto activated) { return activated(value); });
    }
    four.x[i] = Storage::rounded(value);
  }
  if constexpr (writes_x) {
    Memory* const to = static_cast<Memory*>(p.x) + number * p.x_product;
    store_four(to + row * p.x_row + column, x, count, takes_fours<Memory>(to, p.x_row));
  }
  store_four(static_cast<Memory*>(of.at.d) + row * g.d_row + column, four, count,
             takes_fours<Memory>(of.at.d, g.d_row));
}

// CTAs stride over D in groups of four outputs of a row, product after product.
template <ElementType out, bool writes_x = false>
__device__ void finish(const FinishParams& p) {
  using Sum = typename types::Storage<out>::Sum;
  const long long fours = (p.gemm.n + 3) / 4, of_product = p.gemm.m * fours;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long four = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long product = four / of_product; product < p.batch.count;
       four += step, product = four / of_product) {
    const long long inside = four - product * of_product, row = inside / fours;
    finish_four<out, writes_x>(p, Product<Sum>(p, product), product, row,
                               (inside - row * fours) * 4);
  }
}

}  // namespace tessera::passes
