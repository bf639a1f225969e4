// What every kernel with a planted bug is launched with. Each comes twice, `<bug>__broken` and
// `<bug>__intact`, from one template; the lines that the report must name end in "<- here".
#pragma once

#include <cstdint>

namespace tessera::bugs {

inline constexpr bool kIntact = true, kBroken = false;

struct Args {
  const float* in;
  float* out;
  std::uint32_t* counters;  // zeros
  int n;                    // elements of `in`
};

}  // namespace tessera::bugs
