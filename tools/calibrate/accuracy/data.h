// Kinds of matrices that tell ways to sum apart: of each, A (m x k) and B (k x n), row-major.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace tessera::accuracy {

struct Operands {
  std::int64_t m, n, k;
  std::vector<float> a, b;
};

struct Kind {
  std::string_view name, text;
  std::function<void(Operands& operands, std::uint64_t seed)> fill;
};
std::span<const Kind> kinds();

}  // namespace tessera::accuracy
