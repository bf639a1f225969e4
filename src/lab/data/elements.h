// Numbers of every type that a kernel's arguments may have, as people and NumPy write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/elements.h"

namespace tessera::lab {

// Return the type that a word in a kernel's arguments names, or the word for a type. The words are
// the library's names, but "i32" for "s32". type_of_word() also accepts "s32", and returns nullopt
// for a word that names no type.
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
