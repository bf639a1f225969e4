#include "lab/verify/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <tuple>

#include "lab/data/parallel.h"

namespace tessera::lab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kEntriesAThread = 1 << 15;
constexpr std::int64_t kBytesAThread = 1 << 20;

struct Expected {
  double high, low, magnitude;
};

// Returns the error of one entry divided by its bound: at most 1 if the entry is right, infinite if
// no bound could accept it.
double error_ratio(double got, const Expected& want, const Bound& bound, double largest) {
  if (std::isnan(want.high)) return std::isnan(got) ? 0 : kInfinity;
  if (std::isnan(got)) return kInfinity;
  if (std::isinf(got) || std::isinf(want.high)) {
    const bool overflows = std::abs(want.high) > largest && std::isinf(got);
    return overflows && std::signbit(got) == std::signbit(want.high) ? 0 : kInfinity;
  }
  const double error = std::abs((got - want.high) - want.low);
  if (error == 0) return 0;
  const double allowed =
      bound.chain * want.magnitude + bound.out * std::abs(want.high) + bound.tiny;
  return allowed > 0 ? error / allowed : kInfinity;
}

bool earlier(const Mismatch& x, const Mismatch& y) {
  return std::tie(x.row, x.col) < std::tie(y.row, y.col);
}

void merge(Comparison& total, const Comparison& part) {
  total.checked += part.checked;
  total.bad += part.bad;
  total.max_error_ratio = std::max(total.max_error_ratio, part.max_error_ratio);
  if (part.first && (!total.first || earlier(*part.first, *total.first))) total.first = part.first;
}

void judge(Comparison& part, const Entry& entry, double got, const Expected& want,
           const Bound& bound, double largest) {
  const double ratio = error_ratio(got, want, bound, largest);
  ++part.checked;
  part.max_error_ratio = std::max(part.max_error_ratio, ratio);
  if (ratio <= 1) return;
  ++part.bad;
  const Mismatch here{entry.row, entry.col, got, want.high + want.low};
  if (!part.first || earlier(here, *part.first)) part.first = here;
}

// Returns the first byte at which two ranges differ, or `count`.
std::size_t first_difference(const std::byte* x, const std::byte* y, std::size_t count) {
  if (std::memcmp(x, y, count) == 0) return count;
  return std::mismatch(x, x + count, y).first - x;
}

// Returns the first element in [begin, end) of the buffer that is not poison, or `end`.
std::size_t first_not_poison(const HostMatrix& matrix, std::size_t begin, std::size_t end) {
  const std::uint64_t poison = poison_of(matrix.type());
  const std::size_t step = size_of(matrix.type());
  for (std::size_t at = begin; at < end; at += step) {
    if (std::memcmp(matrix.bytes() + at, &poison, step) != 0) return at;
  }
  return end;
}

// Describes the position of byte `at` of the buffer in words.
std::string where(const HostMatrix& matrix, std::size_t at) {
  const std::int64_t element = size_of(matrix.type());
  const std::int64_t offset =
      (static_cast<std::int64_t>(at) - static_cast<std::int64_t>(matrix.front_bytes())) / element;
  if (at < matrix.front_bytes()) {
    return fmt::format("{} bytes before its first element", matrix.front_bytes() - at);
  }
  const Runs runs = runs_of(matrix.view());
  if (runs.count == 0 || offset >= matrix.view().span()) {
    return fmt::format("{} elements after its last one", offset - matrix.view().span() + 1);
  }
  const std::int64_t run = offset / runs.step, in_run = offset % runs.step;
  if (in_run >= runs.length) {
    return fmt::format("in the gap after {} {}, {} elements behind its end",
                       runs.rows_adjacent ? "column" : "row", run, in_run - runs.length + 1);
  }
  return fmt::format("at ({}, {})", runs.row(run, in_run), runs.col(run, in_run));
}

}  // namespace

double chain_constant(std::int64_t k, std::optional<Fill> fill) {
  const double terms = static_cast<double>(k) + 3;
  if (!fill) return terms;
  if (*fill == Fill::kSameSign) return std::min(terms, 4 + 2 * std::sqrt(static_cast<double>(k)));
  return std::min(terms, 12.0);
}

double cut_chain_constant(std::int64_t k, std::optional<Fill> fill, int group) {
  const double terms = static_cast<double>(k) + 3, root = std::sqrt(static_cast<double>(k));
  if (!fill) return terms;
  const double zero_mean = 12 + 4 * root / group;
  const double same_sign = 4 + 2 * root + static_cast<double>(k) / (2 * group);
  return std::min(terms, *fill == Fill::kSameSign ? same_sign : zero_mean);
}

double promoted_chain_constant(std::int64_t k, std::optional<Fill> fill) {
  constexpr double kChain = 8, kLowByLow = 4;
  return std::max(chain_constant(k, fill),
                  chain_constant((k + 31) / 32, fill) + kChain + kLowByLow);
}

Bound bound_for(const Types& types, std::int64_t k, std::optional<Fill> fill, int digits) {
  const ComputeFacts& compute = facts_of(types.compute);
  // If the operands have fewer digits than the sum, tensor cores add 32 bytes at a time.
  const int digits_of_wider = std::max(facts_of(types.a).digits, facts_of(types.b).digits);
  const int operand_digits = std::min(digits_of_wider, compute.operand_digits);
  const bool cut = is_float(compute.sum) && operand_digits < facts_of(compute.sum).digits;
  const double c = compute.terms > 1 ? promoted_chain_constant(k, fill)
                   : cut             ? cut_chain_constant(k, fill, 32 / size_of(types.a))
                                     : chain_constant(k, fill);
  Bound bound{c * unit_roundoff(compute.sum), unit_roundoff(types.d),
              std::ldexp(0.5, facts_of(types.d).smallest)};
  for (const ElementType operand : {types.a, types.b}) {
    const int used = digits > 0 ? digits : facts_of(operand).digits;
    // HW: TF32 operands may be truncated instead of rounded, an error of one unit in the last
    // place.
    if (used > compute.operand_digits) bound.chain += std::ldexp(2.0, -compute.operand_digits);
  }
  return bound;
}

Bound bound_after(const Epilogue& epilogue, Bound bound, const Types& types) {
  if (epilogue.is_identity()) return bound;
  // Scale and bias are one rounding each.
  const double roundings = 2 + row_of(epilogue.activation).roundings;
  bound.chain += roundings * unit_roundoff(facts_of(types.compute).sum);
  return bound;
}

Comparison compare(const HostMatrix& d, const Reference& reference, const Bound& bound) {
  const double largest = facts_of(d.type()).largest;
  Comparison total;
  std::mutex guard;
  const auto compare_range = [&](std::int64_t begin, std::int64_t end) {
    Comparison part;
    for (std::int64_t i = begin; i < end; ++i) {
      const Entry entry =
          reference.sampled ? reference.entries[i] : Entry{i / reference.cols, i % reference.cols};
      Expected want{reference.high[i], reference.low.empty() ? 0 : reference.low[i],
                    reference.magnitude[i]};
      if (bound.exact()) want = {rounded_to(d.type(), want.high + want.low), 0, want.magnitude};
      judge(part, entry, d.at(entry.row, entry.col), want, bound, largest);
    }
    const std::lock_guard lock(guard);
    merge(total, part);
  };
  parallel_for(reference.high.size(), kEntriesAThread, compare_range);
  return total;
}

std::string find_stray_write(const HostMatrix& d, std::string_view name) {
  const Runs runs = runs_of(d.view());
  const std::size_t element = size_of(d.type());
  const auto look = [&](std::size_t begin, std::size_t end) -> std::string {
    const std::size_t at = first_not_poison(d, begin, end);
    if (at == end) return {};
    return fmt::format("{} was written outside its elements, {}", name, where(d, at));
  };
  std::string found = look(0, d.front_bytes());
  for (std::int64_t run = 0; found.empty() && run + 1 < runs.count; ++run) {
    const std::size_t row_begin = d.front_bytes() + run * runs.step * element;
    found = look(row_begin + runs.length * element, row_begin + runs.step * element);
  }
  if (!found.empty()) return found;
  return look(d.total_bytes() - d.guard_bytes(), d.total_bytes());
}

std::string find_change(const HostMatrix& now, const HostMatrix& before, std::string_view name) {
  std::size_t first = now.total_bytes();
  std::mutex guard;
  parallel_for(now.total_bytes(), kBytesAThread, [&](std::int64_t begin, std::int64_t end) {
    const std::size_t at =
        begin + first_difference(now.bytes() + begin, before.bytes() + begin, end - begin);
    if (at == static_cast<std::size_t>(end)) return;
    const std::lock_guard lock(guard);
    first = std::min(first, at);
  });
  if (first == now.total_bytes()) return {};
  return fmt::format("{} is an input and was written, {}", name, where(now, first));
}

std::string describe(const Comparison& comparison, ElementType type, std::string_view name) {
  if (comparison.ok() || !comparison.first) return {};
  const auto& [row, col, got, want] = *comparison.first;
  const std::uint64_t poison = poison_of(type);
  const double poison_value = load_element(type, &poison);
  const bool unwritten = std::isnan(got) && std::bit_cast<std::uint64_t>(got) ==
                                                std::bit_cast<std::uint64_t>(poison_value);
  const std::string what =
      unwritten
          ? fmt::format(
                "{}({}, {}) was not written (or holds a NaN read from outside) and should "
                "be {:.9g}",
                name, row, col, want)
          : fmt::format("{}({}, {}) is {:.9g} and should be {:.9g}", name, row, col, got, want);
  return fmt::format("{} ({} of {} entries are wrong)", what, comparison.bad, comparison.checked);
}

}  // namespace tessera::lab
