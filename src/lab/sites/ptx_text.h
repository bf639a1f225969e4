// The text of PTX, line by line, as far as its readers in this folder need it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tessera::lab {

// Registers, names and numbers of a stretch of PTX, without the punctuation around them.
std::vector<std::string_view> words_of(std::string_view text);

std::optional<int> integer_of(std::string_view word);
inline int integer_or_zero(std::string_view word) { return integer_of(word).value_or(0); }

// Without the blanks before it and the comment after it.
std::string_view trimmed(std::string_view line);

// Takes the first line off the text.
std::string_view next_line(std::string_view& text);

// Whether this line begins the entry of that name.
bool opens(std::string_view line, std::string_view entry);

}  // namespace tessera::lab
