// Parses numbers from the command line. An error names the argument, its value and the rule.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

std::int64_t parse_integer(std::string_view argument, std::string_view text, std::int64_t least = 0,
                           std::int64_t most = std::numeric_limits<std::int64_t>::max());
double parse_real(std::string_view argument, std::string_view text);

// Parses one size, a list "a,b", or a range "lo:hi:step" or "lo:hi:x2" (hi is included if a step
// meets it).
std::vector<std::int64_t> parse_sizes(std::string_view argument, std::string_view text);

// The parts of a text between separators. An empty text has one part, which is empty.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace tessera
