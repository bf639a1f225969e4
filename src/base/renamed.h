// Stored results contain the names that kernels and variants had when they were measured. Programs
// that read stored results translate old names to current names before they parse the text.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace tessera {

// Returns the text with all old names replaced by current names. A name is replaced unless a letter
// or digit is next to it, so "rung_06_strip_of_4__2x2" is translated, too.
std::string with_current_names(std::string_view text);

// Reads the rest of a stream, and returns it with current names.
std::string read_with_current_names(std::istream& stream);

}  // namespace tessera
