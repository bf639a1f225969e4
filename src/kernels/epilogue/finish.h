// What becomes of alpha * sum + beta * C before it is stored, composed of small operations: a
// scale, a bias and an activation. Which of them a problem has is data, the same for all threads of
// a launch, so the code is compiled once.
//
// WHY not one kernel for each composition: there are 36, and a tile of four layouts takes 100 KB
// and 15 seconds of ptxas. A branch that all threads take alike costs one instruction.
// TRIED: all of it in the store of a tile, whose 64 pairs are 64 copies of the code: 241 KB in
// place of 92. So stores have the small set of `Fused`, and the rest is for a launch after the
// product.
#pragma once

#include <cmath>

#include "kernels/epilogue/activations.h"
#include "kernels/epilogue/finish_params.h"
#include "kernels/epilogue/linear_combination.h"
#include "kernels/ptx/approximate.h"

namespace tessera::epilogue {

// How a GPU computes what activations need: floats by approximations that are as good as their
// rounding, doubles by CUDA's functions.
struct GpuMath {
  __device__ static float exp2(float x) { return ptx::exp2_approximately(x); }
  __device__ static float reciprocal(float x) { return ptx::reciprocal_approximately(x); }
  // The number, where one of both is NaN.
  __device__ static float smaller(float x, float y) { return ::fminf(x, y); }
  __device__ static float normal(float x) { return normal_probability<GpuMath>(x); }
  __device__ static double exp2(double x) { return ::exp2(x); }
  __device__ static double reciprocal(double x) { return 1 / x; }
  __device__ static double normal(double x) { return 0.5 * ::erfc(x * -0.70710678118654752440); }
};

// Of the value for an output; beyond the edge of D, whose outputs are not stored, of the last one.
__device__ inline long long place_in(const Vector& vector, long long row, long long column) {
  const long long at = vector.by_row ? row : column, last = vector.count - 1;
  return at < last ? at : last;
}

// `out`: of D and of the bias.
template <ElementType out>
struct Finishing {
  using Sum = typename types::Storage<out>::Sum;
  const Finish& of;

  __device__ Sum operator()(Sum value, long long row, long long column) const {
    if (of.scale.values) {
      value *= static_cast<const Sum*>(of.scale.values)[place_in(of.scale, row, column)];
    }
    if (of.bias.values) {
      value += types::Storage<out>::load(of.bias.values, place_in(of.bias, row, column));
    }
    return with_activation<GpuMath, false>(of.activation,
                                           [&](auto activated) { return activated(value); });
  }
};

}  // namespace tessera::epilogue
