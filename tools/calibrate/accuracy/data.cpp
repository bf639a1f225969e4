#include "tools/calibrate/accuracy/data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

namespace tessera::accuracy {
namespace {

using Draw = std::mt19937_64;

double normal(Draw& draw) { return std::normal_distribution<>()(draw); }
double uniform(Draw& draw) { return std::uniform_real_distribution<>(0, 1)(draw); }

// Each row has its own random numbers, so that threads can fill rows independently.
template <class Number>
void fill_rows(std::vector<float>& x, std::int64_t columns, std::uint64_t seed, Number number) {
  const auto rows = static_cast<std::int64_t>(x.size()) / columns;
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> running;
  for (int first = 0; first < threads; ++first) {
    running.emplace_back([&, first] {
      for (std::int64_t row = first; row < rows; row += threads) {
        Draw draw(seed + static_cast<std::uint64_t>(row));
        for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) {
          x[i] = static_cast<float>(number(draw));
        }
      }
    });
  }
}

template <class Number>
void fill_all(Operands& o, std::uint64_t seed, Number number) {
  fill_rows(o.a, o.k, seed, number);
  fill_rows(o.b, o.n, seed + (std::uint64_t{1} << 32), number);
}

// (rand - 1/2) exp(phi randn), as published tests of emulated products have it.
std::function<void(Operands&, std::uint64_t)> spread(double phi) {
  return [phi](Operands& o, std::uint64_t seed) {
    fill_all(o, seed,
             [&](Draw& draw) { return (uniform(draw) - 0.5) * std::exp(phi * normal(draw)); });
  };
}

// Powers of two from 2^-20 to 2^20 along k in A, and their inverses in B, in this order of k.
void fill_by_exponents(Operands& o, std::uint64_t seed, bool is_shuffled) {
  fill_all(o, seed, normal);
  std::vector<std::int64_t> order(static_cast<std::size_t>(o.k));
  std::iota(order.begin(), order.end(), 0);
  if (is_shuffled) std::shuffle(order.begin(), order.end(), Draw(seed + 1));
  for (std::int64_t l = 0; l < o.k; ++l) {
    const double place = static_cast<double>(order[l]) / static_cast<double>(o.k);
    const int exponent = static_cast<int>(40 * place) - 20;
    for (std::int64_t i = 0; i < o.m; ++i) {
      o.a[i * o.k + l] = std::ldexp(o.a[i * o.k + l], exponent);
    }
    for (std::int64_t j = 0; j < o.n; ++j) {
      o.b[l * o.n + j] = std::ldexp(o.b[l * o.n + j], -exponent);
    }
  }
}

// Products in pairs of opposite signs, a small number apart.
void fill_with_pairs(Operands& o, std::uint64_t seed) {
  fill_all(o, seed, normal);
  for (std::int64_t l = 1; l < o.k; l += 2) {
    for (std::int64_t i = 0; i < o.m; ++i) {
      const float before = o.a[i * o.k + l - 1];
      o.a[i * o.k + l] = -before * (1 + std::ldexp(o.a[i * o.k + l], -16));
    }
    for (std::int64_t j = 0; j < o.n; ++j) o.b[l * o.n + j] = o.b[(l - 1) * o.n + j];
  }
}

// In each row of A one number 2^24 times as large as the others.
void fill_with_huge(Operands& o, std::uint64_t seed) {
  fill_all(o, seed, normal);
  Draw draw(seed + 1);
  for (std::int64_t i = 0; i < o.m; ++i) {
    o.a[i * o.k + static_cast<std::int64_t>(draw() % o.k)] = std::ldexp(1.0F, 24);
  }
}

}  // namespace

std::span<const Kind> kinds() {
  static const Kind kinds[] = {
      {"normal", "normal", [](Operands& o, std::uint64_t seed) { fill_all(o, seed, normal); }},
      {"positive", "uniform in 0 to 1",
       [](Operands& o, std::uint64_t seed) { fill_all(o, seed, uniform); }},
      {"phi_1", "spread, phi 1", spread(1)},
      {"phi_2", "spread, phi 2", spread(2)},
      {"phi_4", "spread, phi 4", spread(4)},
      {"sorted", "40 exponents along k, sorted",
       [](Operands& o, std::uint64_t seed) { fill_by_exponents(o, seed, false); }},
      {"shuffled", "40 exponents along k, shuffled",
       [](Operands& o, std::uint64_t seed) { fill_by_exponents(o, seed, true); }},
      {"pairs", "pairs that cancel", fill_with_pairs},
      {"huge", "one huge number a row", fill_with_huge},
  };
  return kinds;
}

}  // namespace tessera::accuracy
