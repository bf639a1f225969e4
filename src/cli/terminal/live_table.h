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
