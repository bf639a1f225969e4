#include "cli/terminal/live_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace tessera::cli {

namespace {

constexpr std::size_t kGap = 2;  // spaces between two columns

std::size_t width_of(const LiveColumn& column) {
  return std::max(column.width, column.header.size());
}

// The width of a column plus the gap before it. The first column of a line has no gap.
std::size_t cost_of(const LiveColumn& column) { return width_of(column) + kGap; }

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::vector<std::string> fit_to_width(std::vector<LiveColumn>& columns, std::size_t width,
                                      const std::vector<std::string>& optional) {
  if (width == 0) return {};
  std::size_t used = 0;
  for (const LiveColumn& column : columns) {
    if (std::ranges::find(optional, column.header) == optional.end()) used += cost_of(column);
  }
  std::vector<std::string> left_out;
  for (const std::string& name : optional) {
    const auto column = std::ranges::find(columns, name, &LiveColumn::header);
    if (column == columns.end()) continue;
    if (used + cost_of(*column) <= width + kGap) {
      used += cost_of(*column);
    } else {
      left_out.push_back(name);
      columns.erase(column);
    }
  }
  return left_out;
}

LiveTable::LiveTable(std::vector<LiveColumn> columns) : columns_(std::move(columns)) {
  for (LiveColumn& column : columns_) column.width = width_of(column);
}

std::string LiveTable::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const LiveColumn& column = columns_[i];
    if (i > 0) text.append(kGap, ' ');
    text += column.right ? fmt::format("{:>{}}", cells.at(i), column.width)
                         : fmt::format("{:<{}}", cells.at(i), column.width);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string LiveTable::header() const {
  std::vector<std::string> names, rules;
  for (const LiveColumn& column : columns_) {
    names.push_back(column.header);
    rules.emplace_back(column.width, '-');
  }
  return line(names) + line(rules);
}

}  // namespace tessera::cli
