// The epilogue of bias_and_activation.h with a second output, X: the values before the activation.
//
// X is stored row by row from the shared-memory panel that D then uses, since a plan does not know
// the alignment of X.
#pragma once

#include "kernels/epilogue/bias_and_activation.h"
#include "kernels/epilogue/store_pairs.h"
#include "kernels/epilogue/store_tma.h"
#include "kernels/epilogue/x_params.h"

namespace tessera::epilogue {

template <ElementType out, int columns>
struct ActivationAndX : BiasAndActivation<out, columns> {
  static constexpr bool kWritesX = true;
  const X& x;
  int product = 0;  // of a batch

  __device__ ActivationAndX(const Fused& of, const X& x)
      : BiasAndActivation<out, columns>(of), x(x) {}

  // Returns the parameters with X in the place of D.
  __device__ GemmParams params_of_x(const GemmParams& p) const {
    GemmParams to = p;
    to.d = static_cast<char*>(x.values) + product * x.product;
    to.d_row = x.row;
    return to;
  }

  // Called between apply() and write(), when `panel` is free. (row, column): its first output.
  template <class Panels, class Panel>
  __device__ void store_x(unsigned char* panel, const Panel& values, const GemmParams& p, int row,
                          int column) const {
    if (!x.values) return;
    stage_panel<out, Panels, false>(panel, threadIdx.x % 32,
                                    [&](int half, int group) { return values.pair(half, group); });
    __syncwarp();
    store_panel_by_rows<Panels>(panel, params_of_x(p), row, column);
    __syncwarp();
  }

  struct BeforeActivation {
    const Vector& bias;
    __device__ float value(float x, long long row, long long column) const {
      return Finishing<out>{{{}, bias, Activation::kIdentity}}(x, row, column);
    }
  };
  // Stores X if k or alpha is zero. Must be called before D, which may be C, is written.
  __device__ void store_x_without_sums(const GemmParams& p) const {
    if (!x.values) return;
    store_without_sums<out>(params_of_x(p), BeforeActivation{this->of.bias});
  }
};

}  // namespace tessera::epilogue
