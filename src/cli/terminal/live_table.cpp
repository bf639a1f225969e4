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

std::size_t width_of(const std::vector<LiveColumn>& columns) {
  std::size_t width = 0;
  for (const LiveColumn& column : columns) width += width_of(column) + (width == 0 ? 0 : kGap);
  return width;
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::vector<std::string> fit_to_width(std::vector<LiveColumn>& columns, std::size_t width,
                                      const std::vector<std::string>& least_wanted) {
  std::vector<std::string> left_out;
  for (const std::string& name : least_wanted) {
    if (width == 0 || width_of(columns) <= width) break;
    if (std::erase_if(columns, [&](const LiveColumn& c) { return c.header == name; }) > 0) {
      left_out.push_back(name);
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
