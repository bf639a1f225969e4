#include "sass/assemble/field_values.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

#include "sass/assemble/letters.h"
#include "sass/decode/instruction.h"

namespace tessera::sass {
namespace {

bool is_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

std::uint32_t half_bits(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (std::isnan(value)) return sign | 0x7FFF;
  if (std::isinf(value)) return sign | 0x7C00;
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), -14);
  const double fraction = std::ldexp(size, 10 - exponent);  // 1024 to 2047; less if denormal
  const auto biased = static_cast<std::uint32_t>(exponent + 14);
  return sign | ((biased << 10) + static_cast<std::uint32_t>(fraction));
}

class Values {
 public:
  explicit Values(std::uint64_t offset) : offset_(offset) {}

  void add_integer(std::int64_t value) {
    constexpr int kUnit = 4, kLowBits = 8;  // offsets of branches: decode_special.cpp
    const std::int64_t distance = value - static_cast<std::int64_t>(offset_ + kInstructionBytes);
    for (const std::int64_t way : {value, -value, value / kUnit, distance, distance / kUnit,
                                   distance / kUnit >> kLowBits, value / kUnit >> kLowBits}) {
      add(static_cast<std::uint64_t>(way));
    }
  }

  // Adds a number in each format, also as the lower half of a pair of FP16 numbers. The upper half
  // of the pair, `half_`, is the number that was added before.
  void add_float(double value) {
    add(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    add(std::bit_cast<std::uint64_t>(value) >> 32);
    const std::uint32_t half = half_bits(value);
    if (has_half_) add(std::uint64_t{half_} << 16 | half);
    half_ = half;
    has_half_ = true;
  }

  std::vector<std::uint64_t> take() { return std::move(values_); }

 private:
  void add(std::uint64_t value) {
    if (std::ranges::find(values_, value) == values_.end()) values_.push_back(value);
  }

  std::uint64_t offset_;
  std::vector<std::uint64_t> values_;
  std::uint32_t half_ = 0;
  bool has_half_ = false;
};

// Reads infinity or NaN with its sign: "+INF", "-QNAN".
bool named_float(std::string_view text, double& value) {
  const double sign = text.starts_with('-') ? -1 : 1;
  if (!text.starts_with('-') && !text.starts_with('+')) return false;
  if (text.substr(1).starts_with("INF")) {
    value = sign * INFINITY;
    return true;
  }
  value = std::copysign(NAN, sign);
  return text.substr(1).starts_with("QNAN");
}

}  // namespace

std::vector<std::uint64_t> register_values(std::string_view text, bool of_warp) {
  constexpr std::uint64_t kZero = 255, kWarpZero = 63;
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = text.find('R'); at < text.size(); at = text.find('R', at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool begins = of_warp ? before == 'U' : !is_letter(before);
    if (!begins || at + 1 == text.size()) continue;
    if (text[at + 1] == 'Z') numbers.push_back(of_warp ? kWarpZero : kZero);
    if (is_digit(text[at + 1])) {
      numbers.push_back(std::strtoull(std::string(text.substr(at + 1, 4)).c_str(), nullptr, 10));
    }
  }
  return numbers;
}

std::vector<std::uint64_t> field_values(std::string_view text, std::uint64_t offset) {
  Values values(offset);
  const std::string copy(text);  // ends with 0, as strtod wants it
  for (std::size_t at = 0; at < copy.size(); ++at) {
    double value = 0;
    if (named_float(text.substr(at), value)) values.add_float(value);
    if (is_letter(copy[at]) && !is_digit(copy[at])) {  // a name, or a type such as .B1
      while (at + 1 < copy.size() && is_letter(copy[at + 1])) ++at;
      continue;
    }
    if (!is_digit(copy[at])) continue;
    const bool is_negative = at > 0 && copy[at - 1] == '-';
    const char* const begin = copy.c_str() + at;
    char* end = nullptr;
    const std::uint64_t integer = std::strtoull(begin, &end, 0);
    const bool is_hex = copy[at] == '0' && copy[at + 1] == 'x';
    values.add_integer(static_cast<std::int64_t>(integer));
    if (!is_hex) {
      value = std::strtod(begin, &end);
      values.add_float(is_negative ? -value : value);
    }
    at = static_cast<std::size_t>(end - copy.c_str()) - 1;
  }
  return values.take();
}

}  // namespace tessera::sass
