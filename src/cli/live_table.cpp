#include "cli/live_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::cli {

LiveTable::LiveTable(std::vector<std::string> header, std::vector<std::size_t> widths)
    : header_(std::move(header)), widths_(std::move(widths)) {
  widths_.resize(header_.size(), 0);
  for (std::size_t i = 0; i < header_.size(); ++i) {
    widths_[i] = std::max(widths_[i], header_[i].size());
  }
}

void LiveTable::print_header() const {
  print_row(header_);
  std::vector<std::string> lines;
  for (const std::size_t width : widths_) lines.emplace_back(width, '-');
  print_row(lines);
}

void LiveTable::print_row(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t width = i < widths_.size() ? widths_[i] : 0;
    line += fmt::format("{}{:<{}}", i == 0 ? "" : "  ", cells[i], width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace tessera::cli
