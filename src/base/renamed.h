// Stored results keep the names that kernels and variants had at the time. Readers translate the
// text to current names before they parse it.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace tessera {

// The text with current names. A name is replaced unless a letter or digit is next to it, so
// "rung_06_strip_of_4__2x2" is translated, too.
std::string with_current_names(std::string_view text);

// The rest of a stream, translated.
std::string read_with_current_names(std::istream& stream);

}  // namespace tessera
