// The source changes of one step of the ladder, as a unified diff. The files are small: a longest
// common subsequence over lines is enough.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::lab {

struct DiffLine {
  char mark = ' ';  // ' ' in both, '-' only before, '+' only after, '@' the head of a hunk
  std::string text;
};

// Returns hunks with `context` equal lines around each change; empty if the texts have the same
// lines.
std::vector<DiffLine> unified_diff(std::string_view before, std::string_view after,
                                   int context = 3);

std::vector<std::string_view> lines_of(std::string_view text);  // without line ends

}  // namespace tessera::lab
