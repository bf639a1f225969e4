// A table whose rows appear as soon as they are known: widths are fixed by what is known before.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::cli {

struct LiveColumn {
  std::string header;
  std::size_t width = 0;  // at least; a longer cell moves the cells to its right
  bool right = false;     // numbers
};

// Columns of the terminal that stdout is; 0 if it is a file or a pipe, which have no width.
std::size_t terminal_width();

// Takes out the columns that have no room in a line of `width` (0: all have). Columns named in
// `optional` get the room that the others leave, the first one first. Returns the names of those
// taken out.
std::vector<std::string> fit_to_width(std::vector<LiveColumn>& columns, std::size_t width,
                                      const std::vector<std::string>& optional);

class LiveTable {
 public:
  explicit LiveTable(std::vector<LiveColumn> columns);

  // One line, without spaces at its end; as many cells as columns.
  std::string line(const std::vector<std::string>& cells) const;
  std::string header() const;  // two lines: the names and a rule

 private:
  std::vector<LiveColumn> columns_;
};

}  // namespace tessera::cli
