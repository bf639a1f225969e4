// Numbers of every type that a kernel's arguments may have, as people and NumPy write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/elements.h"

namespace tessera::lab {

// Return the type of a word, or the word of a type, in arguments of kernels: "i32" where the
// library says "s32", else the library's own word; both are understood. nullopt if the word is not
// a type.
std::optional<ElementType> type_of_word(std::string_view word);
std::string_view word_of(ElementType type);
std::string words_of_types();  // "i8, i16, ..."

// Returns NumPy's word for the type, "<f4". NumPy has no bf16, whose 16 bits are stored as "<u2".
// Throws kUnsupported for a type that NumPy does not have, such as 8-bit floats.
std::string_view npy_descr(ElementType type);
std::optional<ElementType> type_of_npy(std::string_view descr);

// Stores a number as typed ("64", "-1.5", "0x1f", "nan"). Floats are rounded to nearest even.
// Throws a kBadArgument that names the argument, the text and the rule.
void store_text(ElementType type, std::string_view argument, std::string_view text, std::byte* to);
// Returns the shortest text that is read back as the same number.
std::string text_of(ElementType type, const std::byte* from);

}  // namespace tessera::lab
