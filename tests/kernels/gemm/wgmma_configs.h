// The configs of wgmma_gemm.cu, for the kernels and for the test that launches them: each side of a
// tile, cluster, mode, type, way out, and each side along which operands are contiguous. Rings are
// short, so that small problems go round them.
#pragma once

#include "kernels/families/wgmma/config.h"

namespace tessera {

struct WgmmaRow {
  const char* variant;
  wgmma::Config config;
};

inline constexpr auto kBf16 = ptx::MatrixType::kBF16, kF16 = ptx::MatrixType::kF16,
                      kTf32 = ptx::MatrixType::kTF32;
inline constexpr auto kTogether = wgmma::Consumers::kTogether;
inline constexpr auto kPingPong = wgmma::Consumers::kPingPong;
inline constexpr auto kTma = wgmma::Store::kTma, kDirect = wgmma::Store::kDirect;
using Out = ElementType;
inline constexpr Majors kKK{Major::kK, Major::kK}, kKN{Major::kK, Major::kN},
    kMN{Major::kM, Major::kN}, kMK{Major::kM, Major::kK};

// clang-format off
inline constexpr WgmmaRow kWgmmaRows[] = {
    {"128x128", {kBf16, Out::kBf16, {128, 128, 64}, 2, {1, 1}, kTogether, 2, kTma, 2, 40, 232, kKN}},
    {"128x256_c2x1", {kBf16, Out::kBf16, {128, 256, 64}, 2, {2, 1}, kTogether, 2, kTma, 2, 40, 232, kKK}},
    {"256x128_c1x2", {kBf16, Out::kBf16, {256, 128, 64}, 2, {1, 2}, kTogether, 2, kTma, 2, 40, 232, kMN}},
    {"128x128_c2x1_pp", {kBf16, Out::kF32, {128, 128, 64}, 3, {2, 1}, kPingPong, 2, kTma, 1, 40, 232, kMK}},
    {"128x192_pp_direct", {kBf16, Out::kBf16, {128, 192, 64}, 2, {1, 1}, kPingPong, 2, kDirect, 1, 40, 232, kKK}},
    {"192x192_c2x1", {kBf16, Out::kF16, {192, 192, 64}, 2, {2, 1}, kTogether, 3, kTma, 2, 32, 160, kMN}},
    {"64x64_c2x2", {kBf16, Out::kF32, {64, 64, 64}, 3, {2, 2}, kTogether, 1, kDirect, 1, 40, 232, kMK}},
    {"64x80x128", {kBf16, Out::kBf16, {64, 80, 128}, 2, {1, 1}, kTogether, 1, kTma, 1, 40, 232, kKK}},
    {"f16_64x320_c1x2", {kF16, Out::kF16, {64, 320, 64}, 2, {1, 2}, kTogether, 1, kTma, 2, 40, 240, kKK}},
    {"tf32_128x64x32", {kTf32, Out::kF32, {128, 64, 32}, 3, {1, 1}, kTogether, 2, kTma, 2, 40, 232, kKK}},
    {"tf32_256x64x32", {kTf32, Out::kF32, {256, 64, 32}, 2, {1, 1}, kTogether, 2, kTma, 2, 24, 240, kMK}},
    {"tf32_128x96x32_pp", {kTf32, Out::kF32, {128, 96, 32}, 3, {1, 1}, kPingPong, 2, kTma, 1, 24, 240, kMK}},
};
// clang-format on

}  // namespace tessera
