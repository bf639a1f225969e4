// A table whose rows are printed one by one; the widths are fixed before the first row is known.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::cli {

struct LiveColumn {
  std::string header;
  std::size_t width = 0;  // the least width; a longer cell shifts the rest of its line
  bool right = false;     // aligned right, as numbers are
};

// The width of the terminal in characters; 0 if stdout is a file or a pipe, which have no width.
std::size_t terminal_width();

// Removes the columns that do not fit a line of `width` characters (0: all fit). Columns named in
// `optional` get the space that the other columns leave, in the order of `optional`. Returns the
// names of the removed columns.
std::vector<std::string> fit_to_width(std::vector<LiveColumn>& columns, std::size_t width,
                                      const std::vector<std::string>& optional);

class LiveTable {
 public:
  explicit LiveTable(std::vector<LiveColumn> columns);

  // One line without spaces at the end. There must be as many cells as columns.
  std::string line(const std::vector<std::string>& cells) const;
  std::string header() const;  // two lines: the names, and a rule

 private:
  std::vector<LiveColumn> columns_;
};

}  // namespace tessera::cli
