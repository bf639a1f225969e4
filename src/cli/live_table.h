// A table whose rows appear as soon as they are known: widths are fixed by what is known before.
#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

class LiveTable {
 public:
  // widths[i] is the least width of column i; a longer header or cell moves what stands right of
  // it.
  LiveTable(std::vector<std::string> header, std::vector<std::size_t> widths);

  void print_header() const;
  void print_row(const std::vector<std::string>& cells) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::size_t> widths_;
};

}  // namespace tessera::cli
