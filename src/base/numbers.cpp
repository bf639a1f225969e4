#include "base/numbers.h"

#include <fmt/format.h>

#include <charconv>

#include "base/status.h"

namespace tessera {
namespace {

constexpr std::size_t kMostSizes = 100000;  // per argument; a longer list counts as a typing error

[[noreturn]] void refuse(std::string_view argument, std::string_view text, std::string_view rule) {
  throw StatusError(
      Status::bad_argument(fmt::format("{} is '{}', but must be {}", argument, text, rule)));
}

constexpr std::string_view kSizesRule =
    "a size, a list 'a,b' or a range 'lo:hi:step' or 'lo:hi:x2'";

// Appends the sizes of one range "lo:hi:step"; a step such as "x2" multiplies.
void append_range(std::string_view argument, std::string_view text,
                  std::vector<std::int64_t>& sizes) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3) refuse(argument, text, kSizesRule);
  const std::int64_t low = parse_integer(argument, parts[0]);
  const std::int64_t high = parse_integer(argument, parts[1]);
  const bool multiplies = parts[2].starts_with('x');
  const std::int64_t step = parse_integer(fmt::format("the step of {}", argument),
                                          parts[2].substr(multiplies ? 1 : 0), multiplies ? 2 : 1);
  if (low > high) refuse(argument, text, "a range whose first size is not above its last");
  if (multiplies && low == 0) refuse(argument, text, "a range from at least 1 when it multiplies");
  for (std::int64_t size = low; size <= high;) {
    sizes.push_back(size);
    if (sizes.size() > kMostSizes) {
      refuse(argument, text, fmt::format("at most {} sizes", kMostSizes));
    }
    const bool overflow = multiplies ? __builtin_mul_overflow(size, step, &size)
                                     : __builtin_add_overflow(size, step, &size);
    if (overflow) break;
  }
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos;) {
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  pieces.emplace_back(text.substr(begin));
  return pieces;
}

std::int64_t parse_integer(std::string_view argument, std::string_view text, std::int64_t least,
                           std::int64_t most) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool fits_64_bits = error != std::errc::result_out_of_range;
  if (text.empty() || (fits_64_bits && (error != std::errc() || stop != end))) {
    refuse(argument, text, "a whole number");
  }
  if (fits_64_bits && value >= least && value <= most) return value;
  refuse(argument, text,
         most == std::numeric_limits<std::int64_t>::max()
             ? fmt::format("at least {} and below 2^63", least)
             : fmt::format("a whole number from {} to {}", least, most));
}

double parse_real(std::string_view argument, std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) {
    refuse(argument, text, "a number such as 1, -1.5 or 1e-3");
  }
  return value;
}

std::vector<std::int64_t> parse_sizes(std::string_view argument, std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& piece : split(text, ',')) {
    if (piece.empty()) refuse(argument, text, kSizesRule);
    if (piece.find(':') != std::string::npos) {
      append_range(argument, piece, sizes);
    } else {
      sizes.push_back(parse_integer(argument, piece));
    }
  }
  return sizes;
}

}  // namespace tessera
