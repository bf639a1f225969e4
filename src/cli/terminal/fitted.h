// Tables and sentences that are no wider than the terminal. Files and pipes have no
// width, and get everything.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/table.h"

namespace tessera::cli {

// How a table becomes narrow. The first column is always shown. The others get the remaining width:
// first those that `order` names, then the rest from left to right.
struct Fit {
  std::vector<std::string> order;
  std::vector<std::string> wrapping;  // columns of words, which may take several lines
};

// The table as text, with a last line that names the columns that do not fit. Width 0: unlimited.
std::string fitted(const Table& table, const Fit& fit, std::size_t width);
std::string fitted(const Table& table, const Fit& fit);  // for this terminal's width

// "A wider terminal, or --md PATH, also shows: ..."; empty if all columns are shown.
std::string left_out_line(const std::vector<std::string>& columns, std::size_t width);

// The text, broken between words, or within a word that is longer than a line. All lines but the
// first are indented by `indent` spaces; the first line is shorter by the same amount. There is no
// line break at the end.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);

}  // namespace tessera::cli
