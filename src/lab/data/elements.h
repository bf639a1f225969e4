// Numbers of every type that a kernel's arguments may have, as bytes in memory and as people write
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::lab {

enum class ElementType { kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBf16, kF32, kF64 };

// "f32"; nullopt for a word that is no type.
std::optional<ElementType> parse_element_type(std::string_view word);
std::string_view name_of(ElementType type);
std::string names_of_element_types();  // "i8, i16, ..."
std::size_t size_of(ElementType type);
bool is_float(ElementType type);

// NumPy's word for the type, "<f4". NumPy has no bf16: its 16 bits travel as "<u2".
std::string_view npy_descr(ElementType type);
std::optional<ElementType> type_of_npy(std::string_view descr);

// A number as typed ("64", "-1.5", "0x1f", "nan"), rounded to nearest even where the type is a
// float. Throws kBadArgument naming the argument, the text and the rule.
void store_text(ElementType type, std::string_view argument, std::string_view text, std::byte* to);

// Rounds to nearest even; integers are cut to their range.
void store(ElementType type, double value, std::byte* to);
double load(ElementType type, const std::byte* from);
// The shortest text that is read back as the same number.
std::string text_of(ElementType type, const std::byte* from);

}  // namespace tessera::lab
