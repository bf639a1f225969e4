// What every kernel with a planted bug is launched with. Each comes twice, `<bug>__broken` and
// `<bug>__intact`, from one template; the lines that the report must name end in "<- here".
#pragma once

#include <cstdint>

namespace tessera::ptx {
struct TensorMap;  // kernels/ptx/tensor_copy.h
}

namespace tessera::bugs {

inline constexpr bool kIntact = true, kBroken = false;

struct Args {
  const float* in;
  float* out;
  std::uint32_t* counters;  // zeros
  ptx::TensorMap* map;      // of the first 4 rows of 32 floats of `in`, which are also the box
  int n;                    // elements of `in`
};

}  // namespace tessera::bugs
