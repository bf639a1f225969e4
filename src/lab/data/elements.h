// Numbers of every type that a kernel's arguments may have, as people and NumPy write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/elements.h"

namespace tessera::lab {

// The word of a type in arguments of kernels: "i32" where the library says "s32", else the
// library's own; both are understood. nullopt for a word that is not a type.
std::optional<ElementType> type_of_word(std::string_view word);
std::string_view word_of(ElementType type);
std::string words_of_types();  // "i8, i16, ..."

// NumPy's word for the type, "<f4". NumPy has no bf16: its 16 bits travel as "<u2". Throws
// kUnsupported for a type that has none, 8-bit floats among them.
std::string_view npy_descr(ElementType type);
std::optional<ElementType> type_of_npy(std::string_view descr);

// A number as typed ("64", "-1.5", "0x1f", "nan"), rounded to nearest even where the type is a
// float. Throws kBadArgument naming the argument, the text and the rule.
void store_text(ElementType type, std::string_view argument, std::string_view text, std::byte* to);
// The shortest text that is read back as the same number.
std::string text_of(ElementType type, const std::byte* from);

}  // namespace tessera::lab
