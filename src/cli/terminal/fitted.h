// Tables and sentences no wider than the terminal; files and pipes have no width and get
// everything.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/table.h"

namespace tessera::cli {

// How a table becomes narrow. The first column is always shown; the others get what is left, those
// named in `order` first, then the rest in their own order.
struct Fit {
  std::vector<std::string> order;
  std::vector<std::string> wrapping;  // columns of words, which may go on in the next line
};

// Text, with a last line that names the columns that have no room. Width 0: unlimited.
std::string fitted(const Table& table, const Fit& fit, std::size_t width);
std::string fitted(const Table& table, const Fit& fit);  // in this terminal

// "A wider terminal, or --md PATH, also shows: ...", or nothing.
std::string left_out_line(const std::vector<std::string>& columns, std::size_t width);

// The text, broken between words, or within a word that is longer than a line. All lines but the
// first are indented by `indent` spaces; the first line is shorter by the same amount. There is no
// line break at the end.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);

}  // namespace tessera::cli
