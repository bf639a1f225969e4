// Joins names of operations at compile time: join<"cvt.rni.", "s8", ".f32">.
#pragma once

#include <cstddef>

#include "vgpu/program/isa.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

template <std::size_t n>
struct Piece {
  char text[n] = {};
  constexpr Piece(const char (&from)[n]) {
    for (std::size_t i = 0; i < n; ++i) text[i] = from[i];
  }
  static constexpr std::size_t kLength = n - 1;
};

template <Piece... pieces>
struct Joined {
  char text[(decltype(pieces)::kLength + ... + 1)] = {};
  constexpr Joined() {
    std::size_t at = 0;
    const auto append = [&](const auto& piece) {
      for (std::size_t i = 0; i < piece.kLength; ++i) text[at++] = piece.text[i];
    };
    (append(pieces), ...);
  }
};
template <Piece... pieces>
inline constexpr Joined<pieces...> kJoined{};

template <Piece... pieces>
constexpr const char* join() {
  return kJoined<pieces...>.text;
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
