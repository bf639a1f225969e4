#include "lab/data/elements.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/numbers.h"
#include "base/status.h"

namespace tessera::lab {
namespace {

struct Words {
  ElementType type;
  std::string_view word, npy;
};

constexpr std::array<Words, 12> kWords = {{{ElementType::kS8, "i8", "|i1"},
                                           {ElementType::kS16, "i16", "<i2"},
                                           {ElementType::kS32, "i32", "<i4"},
                                           {ElementType::kS64, "i64", "<i8"},
                                           {ElementType::kU8, "u8", "|u1"},
                                           {ElementType::kU16, "u16", "<u2"},
                                           {ElementType::kU32, "u32", "<u4"},
                                           {ElementType::kU64, "u64", "<u8"},
                                           {ElementType::kF16, "f16", "<f2"},
                                           {ElementType::kBf16, "bf16", "<u2"},
                                           {ElementType::kF32, "f32", "<f4"},
                                           {ElementType::kF64, "f64", "<f8"}}};

const Words* words_of(ElementType type) {
  for (const Words& words : kWords) {
    if (words.type == type) return &words;
  }
  return nullptr;
}

// Reads an integer, decimal or, after 0x, hexadecimal.
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

}  // namespace

std::optional<ElementType> type_of_word(std::string_view word) {
  for (const Words& words : kWords) {
    if (words.word == word || tessera::name_of(words.type) == word) return words.type;
  }
  return std::nullopt;
}

std::string_view word_of(ElementType type) {
  const Words* words = words_of(type);
  return words ? words->word : tessera::name_of(type);
}

std::string words_of_types() {
  std::string names;
  for (const Words& words : kWords) {
    names += (names.empty() ? "" : ", ") + std::string(words.word);
  }
  return names;
}

std::string_view npy_descr(ElementType type) {
  if (const Words* words = words_of(type)) return words->npy;
  refuse_type("a NumPy file", type);
}

std::optional<ElementType> type_of_npy(std::string_view descr) {
  if (descr == "|b1") return ElementType::kU8;
  if (descr == "<i1" || descr == "<u1") {
    return descr == "<i1" ? ElementType::kS8 : ElementType::kU8;
  }
  for (const Words& words : kWords) {
    if (words.npy == descr) return words.type;
  }
  return std::nullopt;
}

void store_text(ElementType type, std::string_view argument, std::string_view text, std::byte* to) {
  if (is_float(type)) return store_element(type, parse_real(argument, text), to);
  on_element(type, "a number's text", [&]<class T>(T) {
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

std::string text_of(ElementType type, const std::byte* from) {
  if (std::isnan(load_element(type, from))) return "nan";  // whatever its sign and payload
  return on_element(type, "a number's text", [&]<class T>(T value) -> std::string {
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::is_floating_point_v<T>) return fmt::format("{}", value);
    if constexpr (!std::is_integral_v<T>) return fmt::format("{}", static_cast<float>(value));
    if constexpr (std::is_integral_v<T>) return fmt::format("{}", +value);
  });
}

}  // namespace tessera::lab
