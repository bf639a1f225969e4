// Parameters of the launch that finishes D. For host and device.
#pragma once

#include "base/element_type.h"
#include "kernels/epilogue/finish_params.h"
#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::passes {

struct FinishParams {
  GemmParams gemm;        // m and n, C and D, beta; the sums already include alpha
  schedule::Batch batch;  // for C and D
  epilogue::Finish finish;
  const void* sums;        // row-major; null: the sums are in D
  long long sums_row;      // elements between rows
  long long sums_product;  // elements from one product's sums to the next one's
  ElementType type_of_c;   // of gemm.c, which is read where beta is not 0: f64, f32, bf16 or f16
  int unused = 0;          // no padding
  void* x;                 // of D's type: the value before the activation; of finish<out, true>
  long long x_row, x_product;  // elements
};

inline constexpr int kFinishThreads = 256;
inline constexpr int kFinishCtasPerSm = 4;

}  // namespace tessera::passes
