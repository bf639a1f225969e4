#include "cli/terminal/live_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::cli {

LiveTable::LiveTable(std::vector<LiveColumn> columns) : columns_(std::move(columns)) {
  for (LiveColumn& column : columns_) column.width = std::max(column.width, column.header.size());
}

std::string LiveTable::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const LiveColumn& column = columns_[i];
    text += i == 0 ? "" : "  ";
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
