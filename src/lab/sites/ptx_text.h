// Splits the text of PTX into lines and words, as far as the readers in this folder need it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tessera::lab {

// Returns the registers, names and numbers in a piece of PTX, without the punctuation around them.
std::vector<std::string_view> words_of(std::string_view text);

std::optional<int> integer_of(std::string_view word);
inline int integer_or_zero(std::string_view word) { return integer_of(word).value_or(0); }

// Returns the line without leading blanks and without its comment.
std::string_view trimmed(std::string_view line);

// Removes the first line from the text and returns it.
std::string_view next_line(std::string_view& text);

// Whether this line begins the entry with this name.
bool opens(std::string_view line, std::string_view entry);

}  // namespace tessera::lab
