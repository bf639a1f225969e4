// Types narrower than float have no C++ type of their own here; they are a sign, an exponent and a
// significand of some widths, so one pair of functions serves them all.
#include "lab/data/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/numbers.h"
#include "base/status.h"

namespace tessera::lab {
namespace {

struct Facts {
  ElementType type;
  std::string_view name, npy;
  std::size_t bytes;
};

constexpr std::array<Facts, 12> kFacts = {{{ElementType::kI8, "i8", "|i1", 1},
                                           {ElementType::kI16, "i16", "<i2", 2},
                                           {ElementType::kI32, "i32", "<i4", 4},
                                           {ElementType::kI64, "i64", "<i8", 8},
                                           {ElementType::kU8, "u8", "|u1", 1},
                                           {ElementType::kU16, "u16", "<u2", 2},
                                           {ElementType::kU32, "u32", "<u4", 4},
                                           {ElementType::kU64, "u64", "<u8", 8},
                                           {ElementType::kF16, "f16", "<f2", 2},
                                           {ElementType::kBf16, "bf16", "<u2", 2},
                                           {ElementType::kF32, "f32", "<f4", 4},
                                           {ElementType::kF64, "f64", "<f8", 8}}};

const Facts& facts_of(ElementType type) { return kFacts[static_cast<std::size_t>(type)]; }

// A float of 1 + exponent_bits + fraction_bits bits, as IEEE 754 would have it.
struct SmallFloat {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  }
};
constexpr SmallFloat kHalf{5, 10}, kBfloat{8, 7};

std::uint16_t encode(SmallFloat format, double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return sign | format.infinity() | 1 << (format.fraction_bits - 1);
  const double size = std::fabs(value);
  if (std::isinf(size)) return sign | format.infinity();
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);  // size = 0.5..1 * 2^exponent
  // In units of the last place, below the smallest normal number those of the subnormal ones.
  const int unit = std::max(exponent - 1, 1 - format.bias()) - format.fraction_bits;
  const double units = std::nearbyint(std::ldexp(size, -unit));
  const int biased = std::max(exponent - 1, 1 - format.bias()) + format.bias() - 1;
  // The hidden bit, and a carry into the next exponent, add themselves to the exponent's field.
  const double bits = std::ldexp(biased, format.fraction_bits) + units;
  return sign | (bits >= format.infinity() ? format.infinity() : static_cast<std::uint16_t>(bits));
}

double decode(SmallFloat format, std::uint16_t bits) {
  const int exponent = (bits & 0x7fff) >> format.fraction_bits;
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return sign * (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity());
  }
  const int hidden = exponent == 0 ? 0 : 1 << format.fraction_bits;
  const int scale = std::max(exponent, 1) - format.bias() - format.fraction_bits;
  return sign * std::ldexp(hidden + fraction, scale);
}

// Calls f with a zero of the type; half floats come as their 16 bits.
template <class F>
auto on_element(ElementType type, F f) {
  switch (type) {
    case ElementType::kI8:
      return f(std::int8_t{});
    case ElementType::kI16:
      return f(std::int16_t{});
    case ElementType::kI32:
      return f(std::int32_t{});
    case ElementType::kI64:
      return f(std::int64_t{});
    case ElementType::kU8:
      return f(std::uint8_t{});
    case ElementType::kU32:
      return f(std::uint32_t{});
    case ElementType::kU64:
      return f(std::uint64_t{});
    case ElementType::kF32:
      return f(float{});
    case ElementType::kF64:
      return f(double{});
    default:
      return f(std::uint16_t{});
  }
}

const SmallFloat* small_float(ElementType type) {
  if (type == ElementType::kF16) return &kHalf;
  return type == ElementType::kBf16 ? &kBfloat : nullptr;
}

template <class T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Decimal, or hexadecimal after 0x.
template <class T>
std::optional<T> integer_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const std::string plain = (negative ? "-" : "") + std::string(digits.substr(hexadecimal ? 2 : 0));
  T value{};
  const char* end = plain.data() + plain.size();
  const auto [stop, error] = std::from_chars(plain.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

template <class T>
T cut_to_range(double value) {
  constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto beyond = static_cast<double>(std::numeric_limits<T>::max()) + 1;  // may round up
  if (std::isnan(value)) return 0;
  if (value <= least) return std::numeric_limits<T>::min();
  return value >= beyond ? std::numeric_limits<T>::max() : static_cast<T>(value);
}

}  // namespace

std::optional<ElementType> parse_element_type(std::string_view word) {
  for (const Facts& facts : kFacts) {
    if (facts.name == word) return facts.type;
  }
  return std::nullopt;
}

std::string_view name_of(ElementType type) { return facts_of(type).name; }

std::string names_of_element_types() {
  std::string names;
  for (const Facts& facts : kFacts) names += (names.empty() ? "" : ", ") + std::string(facts.name);
  return names;
}

std::size_t size_of(ElementType type) { return facts_of(type).bytes; }
bool is_float(ElementType type) { return type >= ElementType::kF16; }
std::string_view npy_descr(ElementType type) { return facts_of(type).npy; }

std::optional<ElementType> type_of_npy(std::string_view descr) {
  if (descr == "|b1") return ElementType::kU8;
  if (descr == "<i1" || descr == "<u1") {
    return descr == "<i1" ? ElementType::kI8 : ElementType::kU8;
  }
  for (const Facts& facts : kFacts) {
    if (facts.npy == descr) return facts.type;
  }
  return std::nullopt;
}

void store_text(ElementType type, std::string_view argument, std::string_view text, std::byte* to) {
  if (is_float(type)) return store(type, parse_real(argument, text), to);
  on_element(type, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      if (const auto value = integer_of<T>(text)) {
        std::memcpy(to, &*value, sizeof *value);
        return;
      }
      throw StatusError(Status::bad_argument(
          fmt::format("{} is '{}', but must be a whole number from {} to {}", argument, text,
                      std::int64_t{std::numeric_limits<T>::min()},
                      std::uint64_t{std::numeric_limits<T>::max()})));
    }
  });
}

void store(ElementType type, double value, std::byte* to) {
  if (const SmallFloat* format = small_float(type)) {
    const std::uint16_t bits = encode(*format, value);
    std::memcpy(to, &bits, sizeof bits);
    return;
  }
  on_element(type, [&]<class T>(T) {
    T rounded{};
    if constexpr (std::is_integral_v<T>) {
      rounded = cut_to_range<T>(value);
    } else {
      rounded = static_cast<T>(value);
    }
    std::memcpy(to, &rounded, sizeof rounded);
  });
}

double load(ElementType type, const std::byte* from) {
  if (const SmallFloat* format = small_float(type)) {
    return decode(*format, read_as<std::uint16_t>(from));
  }
  return on_element(type,
                    [&]<class T>(T) -> double { return static_cast<double>(read_as<T>(from)); });
}

std::string text_of(ElementType type, const std::byte* from) {
  if (std::isnan(load(type, from))) return "nan";  // whatever its sign and payload
  if (small_float(type)) return fmt::format("{}", static_cast<float>(load(type, from)));
  return on_element(type, [&]<class T>(T) -> std::string {
    if constexpr (sizeof(T) == 1) {
      return fmt::format("{}", int{read_as<T>(from)});
    } else {
      return fmt::format("{}", read_as<T>(from));
    }
  });
}

}  // namespace tessera::lab
