// What a call is given beside its operands, in memory of just its size, so that a sanitizer finds
// one byte beyond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tessera/gemm.h"
#include "tests/fuzz/input.h"

namespace tessera::fuzz {

// A struct in memory of just the size that it says it has.
template <class Struct>
class Sized {
 public:
  Sized(const Struct& value, Input& input) {
    std::size_t size = sizeof(Struct);
    if (input.one_in(64)) size = static_cast<std::size_t>(input.wild());
    if (input.one_in(64)) size = sizeof(Struct) + static_cast<std::size_t>(input.below(24));
    const bool is_believable = size >= sizeof(Struct) && size <= 4096;
    bytes_.resize(is_believable ? size : sizeof(Struct));
    std::memcpy(bytes_.data(), &value, sizeof value);
    std::memcpy(bytes_.data(), &size, sizeof size);
  }
  Struct* get() { return reinterpret_cast<Struct*>(bytes_.data()); }

 private:
  std::vector<unsigned char> bytes_;
};

// A vector of an epilogue, in memory of just its size.
class Vector {
 public:
  Vector(const tessera_problem& problem, std::int32_t kind, int element_bytes) {
    const std::int64_t count = kind == TESSERA_BIAS_PER_ROW      ? problem.m
                               : kind == TESSERA_BIAS_PER_COLUMN ? problem.n
                                                                 : 0;
    // Longer ones belong to problems that must be refused.
    bytes_.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, 1 << 20)) *
                  static_cast<std::size_t>(element_bytes));
  }
  const void* address() const { return bytes_.data(); }

 private:
  std::vector<unsigned char> bytes_;
};

}  // namespace tessera::fuzz
