// Results that were stored before a kernel or a variant got another name keep the old one. Readers
// translate their text before they parse it.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace tessera {

// The text with the names of today. A name is replaced where no letter and no digit touches it, so
// "rung_06_strip_of_4__2x2" is the entry of a renamed kernel.
std::string with_current_names(std::string_view text);

// All that is left of a stream, translated.
std::string read_with_current_names(std::istream& stream);

}  // namespace tessera
