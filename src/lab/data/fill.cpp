#include "lab/data/fill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "lab/data/parallel.h"

namespace tessera::lab {
namespace {

constexpr std::array<std::pair<Fill, std::string_view>, 6> kNames{{{Fill::kUniform, "uniform"},
                                                                   {Fill::kNormal, "normal"},
                                                                   {Fill::kIntegers, "integers"},
                                                                   {Fill::kSameSign, "same-sign"},
                                                                   {Fill::kSpread, "spread"},
                                                                   {Fill::kZeros, "zeros"}}};

constexpr std::int64_t kElementsAThread = 1 << 16;
constexpr std::int64_t kChunk = 256;  // values drawn before they are rounded to the type

// Returns an odd multiple of 2^-digits in (-1, 1): it is never 0, and its last bits are in use.
double uniform(std::uint64_t bits, int digits) {
  const auto odd = static_cast<std::int64_t>(bits >> (64 - digits)) * 2 + 1;
  return static_cast<double>(odd - (std::int64_t{1} << digits)) *
         (1.0 / static_cast<double>(std::int64_t{1} << digits));
}

double same_sign(std::uint64_t bits, int digits) {
  const auto odd = static_cast<std::int64_t>(bits >> (65 - digits)) * 2 + 1;
  return static_cast<double>(odd) * (1.0 / static_cast<double>(std::int64_t{1} << digits));
}

double spread(std::uint64_t bits, int digits) {
  return uniform(bits, digits) * (mix_bits(bits) % 2 ? 1 : 0x1p-30);
}

// Rounds to nearest (Dekker): with n = 53 - digits and product = value * (2^n + 1), the difference
// product - (product - value) is the value without its last n bits.
double rounded_to_digits(double value, int digits) {
  const double product = value * (static_cast<double>(std::int64_t{1} << (53 - digits)) + 1);
  return product - (product - value);
}

// Returns a normally distributed value, made of two uniform ones (Box and Muller).
double normal(std::uint64_t bits, int) {
  const double radius = std::sqrt(-2.0 * std::log(same_sign(bits, 53)));
  const double angle = std::numbers::pi * uniform(mix_bits(bits), 53);
  return radius * std::cos(angle);
}

double integer(std::uint64_t bits, const FillSpec& spec, bool is_signed) {
  if (spec.density < 1.0 && same_sign(mix_bits(bits), 53) > spec.density) return 0;
  const int least = is_signed ? -spec.limit : 0;
  const auto choices = static_cast<std::uint64_t>(spec.limit - least) + 1;
  return static_cast<double>(static_cast<std::int64_t>((bits >> 32) * choices >> 32) + least);
}

// Returns any value of an integer type, including its extremes.
double any_integer(std::uint64_t bits, const ElementFacts& facts) {
  const bool is_signed = facts.kind == NumberKind::kSigned;
  const double least = is_signed ? -facts.largest - 1 : 0;
  return least + static_cast<double>(bits >> (64 - facts.digits - (is_signed ? 1 : 0)));
}

template <class Draw>
void fill_with(HostMatrix& matrix, std::uint64_t seed, Draw draw) {
  const Runs runs = runs_of(matrix.view());
  // WHY row and column each have a key of their own: the value must not depend on which index is
  // adjacent in memory.
  const auto row_key = [&](std::int64_t r) { return mix_bits(mix_bits(seed) + r); };
  const auto col_key = [&](std::int64_t c) { return mix_bits(mix_bits(~seed) + c); };
  std::vector<std::uint64_t> keys(runs.length);
  for (std::int64_t i = 0; i < runs.length; ++i) {
    keys[i] = runs.rows_adjacent ? row_key(i) : col_key(i);
  }
  const auto fill_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t run = i / runs.length, first = i % runs.length;
      const std::int64_t count = std::min({runs.length - first, end - i, kChunk});
      const std::uint64_t key = runs.rows_adjacent ? col_key(run) : row_key(run);
      std::array<double, kChunk> values;
      for (std::int64_t at = 0; at < count; ++at) {
        values[at] = draw(mix_bits(key + keys[first + at]));
      }
      matrix.set_run(run * runs.step + first, values.data(), count);
      i += count;
    }
  };
  parallel_for(runs.count * runs.length, kElementsAThread, fill_range);
}

void require_float(const HostMatrix& matrix, Fill kind) {
  if (is_float(matrix.type())) return;
  refuse_type("the fill '" + std::string(name_of(kind)) + "'", matrix.type());
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
  throw StatusError(
      Status::bad_argument("fill is '" + std::string(name) + "', but must be one of: " + accepted));
}

void fill(HostMatrix& matrix, const FillSpec& spec) {
  if (matrix.view().rows == 0 || matrix.view().cols == 0) return;
  const ElementFacts& facts = facts_of(matrix.type());
  const bool capped = spec.digits > 0 && spec.digits < facts.digits;
  const int digits = capped ? spec.digits : facts.digits;
  const auto fill_real = [&](double (*draw)(std::uint64_t, int)) {
    require_float(matrix, spec.kind);
    fill_with(matrix, spec.seed, [=](std::uint64_t bits) {
      return capped ? rounded_to_digits(draw(bits, digits), digits) : draw(bits, digits);
    });
  };
  switch (spec.kind) {
    case Fill::kUniform:
      if (facts.kind == NumberKind::kFloat) return fill_real(uniform);
      if (facts.kind == NumberKind::kNone) require_float(matrix, spec.kind);
      return fill_with(matrix, spec.seed,
                       [&](std::uint64_t bits) { return any_integer(bits, facts); });
    case Fill::kNormal:
      return fill_real(normal);
    case Fill::kSameSign:
      return fill_real(same_sign);
    case Fill::kSpread:
      return fill_real(spread);
    case Fill::kZeros:
      return fill_with(matrix, spec.seed, [](std::uint64_t) { return 0.0; });
    case Fill::kIntegers:
      return fill_with(matrix, spec.seed, [&](std::uint64_t bits) {
        return integer(bits, spec, facts.kind != NumberKind::kUnsigned);
      });
  }
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
