// The configs of the kernels that multiply a matrix by one vector or a few vectors: products with a
// small m or n.
#pragma once

#include "base/config.h"
#include "kernels/types/stored.h"

namespace tessera::vector {

inline constexpr int kPortableArch = 90;  // HW: griddepcontrol (programmatic dependent launch)

enum class Arithmetic {
  kFfma,  // on CUDA cores
  kMma,   // on tensor cores; FP32 rounded to TF32
};

struct Config {
  Arithmetic by;
  ElementType in, out;
  BlockTile block;    // m: outputs of a CTA if warps share no rows; n: vectors that are multiplied
                      // together; k: elements that the lanes of a warp take per step
  OutputTile thread;  // m: rows along k that a warp takes at a time; n: vectors, as in block
  int warps;
  int ctas;   // per SM, which limits the registers of a thread
  int ahead;  // steps of k with loads in flight

  constexpr int vector() const { return 16 / types::bytes_of(in); }  // elements per 128 bits
  constexpr int threads() const { return 32 * warps; }
  constexpr int ctas_per_sm() const { return ctas; }
  constexpr int rows() const { return thread.m; }
  constexpr int vectors() const { return thread.n; }
  constexpr int sums() const { return rows() * vectors(); }  // per warp
  // For rows along k and accesses of `width` elements: the number of steps with loads in flight,
  // and the bytes of these loads per warp.
  constexpr int steps_ahead(int width) const {
    return by == Arithmetic::kMma || 2 * width >= vector() ? ahead : 2 * ahead;
  }
  constexpr int bytes_ahead(int width) const {
    const int of_lane = by == Arithmetic::kMma ? 2 * 16 : rows() * width * types::bytes_of(in);
    return 32 * of_lane * steps_ahead(width);
  }
};

constexpr bool is_power_of_two(int x) { return x > 0 && (x & (x - 1)) == 0; }

constexpr bool is_legal(const Config& c) {
  const bool sums = c.by == Arithmetic::kMma ? c.rows() == 16 && c.vectors() % 8 == 0
                                             : is_power_of_two(c.sums()) && c.sums() <= 32;
  const int lanes = c.by == Arithmetic::kMma ? 4 : 32;  // along k
  return sums && is_power_of_two(c.warps) && c.warps <= 32 && c.ahead >= 1 &&
         c.block.m == c.warps * c.rows() && c.block.n == c.vectors() &&
         c.block.k == lanes * c.vector();
}

namespace detail {

constexpr Config by_ffma(ElementType in, ElementType out, int vectors, int ctas) {
  const int k = 32 * 16 / types::bytes_of(in);
  return {Arithmetic::kFfma, in, out, {32, vectors, k}, {4, vectors}, 8, ctas, 2};
}
constexpr Config by_mma(ElementType in, ElementType out, int vectors, int ahead) {
  const int k = 4 * 16 / types::bytes_of(in);
  return {Arithmetic::kMma, in, out, {128, vectors, k}, {16, vectors}, 8, 2, ahead};
}

// `ahead`: steps of k with loads in flight for eight vectors, limited by registers.
//
// TRIED: four and eight vectors, 16-bit and FP64, on CUDA cores: slower than the kernels with
// larger tiles. Two 16-bit vectors on CUDA cores, and 16 vectors, 16-bit and TF32, on tensor cores:
// mostly no faster than larger tiles, and they need ten more code images.
constexpr auto rows_for(ElementType in, ElementType out, int ahead) {
  return rows_of<Config>({
      {"8_warps", by_ffma(in, out, 1, 3)},
      {"8_warps_x8", by_mma(in, out, 8, ahead)},
  });
}

}  // namespace detail

inline constexpr auto kF32 = rows_of<Config>({
    {"8_warps", detail::by_ffma(ElementType::kF32, ElementType::kF32, 1, 3)},
    {"8_warps_x2", detail::by_ffma(ElementType::kF32, ElementType::kF32, 2, 3)},
    {"8_warps_x4", detail::by_ffma(ElementType::kF32, ElementType::kF32, 4, 2)},
    {"8_warps_x8", detail::by_ffma(ElementType::kF32, ElementType::kF32, 8, 2)},
});
inline constexpr auto kTf32 = detail::rows_for(ElementType::kF32, ElementType::kF32, 3);
inline constexpr auto kF64 = rows_of<Config>({
    {"8_warps", detail::by_ffma(ElementType::kF64, ElementType::kF64, 1, 3)},
    {"8_warps_x2", detail::by_ffma(ElementType::kF64, ElementType::kF64, 2, 2)},
    {"8_warps_x8", detail::by_mma(ElementType::kF64, ElementType::kF64, 8, 4)},
    {"8_warps_x16", detail::by_mma(ElementType::kF64, ElementType::kF64, 16, 2)},
});
inline constexpr auto kBf16 = detail::rows_for(ElementType::kBf16, ElementType::kBf16, 4);
inline constexpr auto kBf16F32 = detail::rows_for(ElementType::kBf16, ElementType::kF32, 4);
inline constexpr auto kF16 = detail::rows_for(ElementType::kF16, ElementType::kF16, 4);
inline constexpr auto kF16F32 = detail::rows_for(ElementType::kF16, ElementType::kF32, 4);

}  // namespace tessera::vector
