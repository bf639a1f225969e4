#include "lab/data/fill.h"

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "lab/data/parallel.h"

namespace tessera::lab {
namespace {

constexpr std::array<std::pair<Fill, std::string_view>, 5> kNames{{{Fill::kUniform, "uniform"},
                                                                   {Fill::kNormal, "normal"},
                                                                   {Fill::kIntegers, "integers"},
                                                                   {Fill::kSameSign, "same-sign"},
                                                                   {Fill::kZeros, "zeros"}}};

constexpr std::int64_t kElementsAThread = 1 << 16;

// An odd multiple of 2^-24 or 2^-53 in (-1, 1): no value is 0 and the last bits are in use.
template <class T>
T uniform(std::uint64_t bits) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto odd = static_cast<std::int64_t>(bits >> (64 - digits)) * 2 + 1;
  return static_cast<T>(odd - (std::int64_t{1} << digits)) *
         (T{1} / static_cast<T>(std::int64_t{1} << digits));
}

template <class T>
T same_sign(std::uint64_t bits) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto odd = static_cast<std::int64_t>(bits >> (65 - digits)) * 2 + 1;
  return static_cast<T>(odd) * (T{1} / static_cast<T>(std::int64_t{1} << digits));
}

// Box and Muller: two uniform values make one normal value.
template <class T>
T normal(std::uint64_t bits) {
  const double radius = std::sqrt(-2.0 * std::log(same_sign<double>(bits)));
  const double angle = std::numbers::pi * uniform<double>(mix_bits(bits));
  return static_cast<T>(radius * std::cos(angle));
}

template <class T>
T integer(std::uint64_t bits, const FillSpec& spec) {
  if (spec.density < 1.0 && same_sign<double>(mix_bits(bits)) > spec.density) return T{0};
  const std::uint64_t choices = 2 * static_cast<std::uint64_t>(spec.limit) + 1;
  return static_cast<T>(static_cast<std::int64_t>((bits >> 32) * choices >> 32) - spec.limit);
}

template <class T, class Draw>
void fill_with(HostMatrix& matrix, std::uint64_t seed, Draw draw) {
  const Runs runs = runs_of(matrix.view());
  // WHY: the value must not know which index is adjacent, so both go through a key of their own.
  const auto row_key = [&](std::int64_t r) { return mix_bits(mix_bits(seed) + r); };
  const auto col_key = [&](std::int64_t c) { return mix_bits(mix_bits(~seed) + c); };
  std::vector<std::uint64_t> keys(runs.length);
  for (std::int64_t i = 0; i < runs.length; ++i) {
    keys[i] = runs.rows_adjacent ? row_key(i) : col_key(i);
  }
  const auto fill_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t run = i / runs.length, first = i % runs.length;
      const std::int64_t last = std::min(runs.length, first + (end - i));
      const std::uint64_t key = runs.rows_adjacent ? col_key(run) : row_key(run);
      T* out = matrix.elements<T>() + run * runs.step;
      for (std::int64_t at = first; at < last; ++at) out[at] = draw(mix_bits(key + keys[at]));
      i += last - first;
    }
  };
  parallel_for(runs.count * runs.length, kElementsAThread, fill_range);
}

template <class T>
void fill_type(HostMatrix& matrix, const FillSpec& spec) {
  switch (spec.kind) {
    case Fill::kUniform:
      return fill_with<T>(matrix, spec.seed, uniform<T>);
    case Fill::kNormal:
      return fill_with<T>(matrix, spec.seed, normal<T>);
    case Fill::kSameSign:
      return fill_with<T>(matrix, spec.seed, same_sign<T>);
    case Fill::kZeros:
      return fill_with<T>(matrix, spec.seed, [](std::uint64_t) { return T{0}; });
    case Fill::kIntegers:
      return fill_with<T>(matrix, spec.seed,
                          [&](std::uint64_t bits) { return integer<T>(bits, spec); });
  }
}

}  // namespace

std::string_view name_of(Fill fill) {
  for (const auto& [kind, name] : kNames) {
    if (kind == fill) return name;
  }
  return "?";
}

Fill parse_fill(std::string_view name) {
  std::string accepted;
  for (const auto& [kind, text] : kNames) {
    if (text == name) return kind;
    accepted += (accepted.empty() ? "" : ", ") + std::string(text);
  }
  throw StatusError(Status::bad_argument("--fill is '" + std::string(name) +
                                         "', but must be one of: " + accepted));
}

void fill(HostMatrix& matrix, const FillSpec& spec) {
  if (matrix.view().rows == 0 || matrix.view().cols == 0) return;
  on_type(matrix.type(), [&](auto zero) { fill_type<decltype(zero)>(matrix, spec); });
}

void place(HostMatrix& matrix, int count, std::uint64_t seed, double value) {
  const auto& [rows, cols, row, col] = matrix.view();
  if (rows == 0 || cols == 0) return;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bits = mix_bits(mix_bits(seed) + i);
    matrix.set(bits % rows, (bits >> 32) % cols, value);
  }
}

}  // namespace tessera::lab
