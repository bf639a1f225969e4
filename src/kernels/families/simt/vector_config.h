// Shapes of the kernels that multiply a matrix by a vector: products of which m or n is 1.
#pragma once

#include "base/config.h"

namespace tessera::vector {

inline constexpr int kPortableArch = 90;  // a launch that starts before the one ahead of it ends

template <class T>
struct Config {
  using Element = T;

  BlockTile block;    // outputs of a CTA where each has a warp of its own; k: of all warps at once
  OutputTile thread;  // rows of the matrix that a warp takes at a time, where they lie along k
  int warps;
  int ctas;  // per SM, that registers must suffice for

  static constexpr int kVector = 16 / sizeof(T);  // elements of a 128-bit access

  constexpr int threads() const { return 32 * warps; }
  constexpr int ctas_per_sm() const { return ctas; }
  constexpr int rows() const { return thread.m; }
};

template <class T>
constexpr bool is_legal(const Config<T>& c) {
  const bool power = (c.warps & (c.warps - 1)) == 0;
  return power && c.warps <= 32 && c.rows() >= 1 && c.rows() <= 8 && c.thread.n == 1 &&
         c.block.m == c.warps * c.rows() && c.block.n == 1 && c.block.k == 32 * c.kVector;
}

inline constexpr auto kConfigs =
    rows_of<Config<float>>({{"8_warps", {{32, 1, 128}, {4, 1}, 8, 3}}});

}  // namespace tessera::vector
