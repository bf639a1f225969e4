// The operations that an epilogue applies to alpha * sum + beta * C before it is stored: a
// scale, a bias and an activation. They are selected by run-time parameters, which are the
// same for all threads of a launch, so that the code is compiled once.
//
// WHY not one kernel for each of the 36 combinations: a tile with its four layouts takes
// 100 KB and 15 seconds of ptxas. A branch that all threads take alike costs one
// instruction. TRIED: all operations in the store of a tile, which repeats the code for
// each of 64 pairs: 241 KB instead of 92. So stores apply the subset `Fused`; a later
// launch applies the rest.
#pragma once

#include <cmath>

#include "kernels/epilogue/activations.h"
#include "kernels/epilogue/finish_params.h"
#include "kernels/epilogue/linear_combination.h"
#include "kernels/ptx/approximate.h"

namespace tessera::epilogue {

// The functions that activations need, on a GPU: for floats approximations with errors of about one
// rounding, for doubles CUDA's functions.
struct GpuMath {
  __device__ static float exp2(float x) { return ptx::exp2_approximately(x); }
  __device__ static float reciprocal(float x) { return ptx::reciprocal_approximately(x); }
  // Returns the smaller argument; if one argument is NaN, returns the other argument.
  __device__ static float smaller(float x, float y) { return ::fminf(x, y); }
  __device__ static float normal(float x) { return normal_probability<GpuMath>(x); }
  __device__ static double exp2(double x) { return ::exp2(x); }
  __device__ static double reciprocal(double x) { return 1 / x; }
  __device__ static double normal(double x) { return 0.5 * ::erfc(x * -0.70710678118654752440); }
};

// Returns the index of an output's value in `vector`; the last index for outputs outside of D.
__device__ inline long long place_in(const Vector& vector, long long row, long long column) {
  const long long at = vector.by_row ? row : column, last = vector.count - 1;
  return at < last ? at : last;
}

// `out` is the type of D and of the bias.
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
