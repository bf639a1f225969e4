#include "cli/terminal/fitted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "cli/terminal/live_table.h"

namespace tessera::cli {
namespace {

constexpr std::size_t kBetween = 2;  // spaces between two columns, as in render()
constexpr std::size_t kNarrow = 24;  // the least width of a column of words

std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  std::vector<std::string> lines = {""};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    for (; word.size() > width; word.erase(0, width)) {
      lines.back() += word.substr(0, width);
      lines.emplace_back();
    }
    lines.back() += word;
    at = end + 1;
  }
  return lines;
}

class Fitting {
 public:
  Fitting(const Table& table, const Fit& fit, std::size_t width)
      : table_(table), fit_(fit), width_(width) {
    choose_columns();
    share_what_is_left();
  }

  Table result() const {
    Table fitted;
    for (const std::size_t column : shown_) fitted.header.push_back(table_.header[column]);
    for (const auto& row : table_.rows) add_row(row, fitted);
    return fitted;
  }
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  bool is_named_in(const std::vector<std::string>& names, std::size_t column) const {
    return std::ranges::find(names, table_.header[column]) != names.end();
  }

  std::size_t natural(std::size_t column) const {
    std::size_t widest = table_.header[column].size();
    for (const auto& row : table_.rows) widest = std::max(widest, row[column].size());
    return widest;
  }

  std::size_t least(std::size_t column) const {
    if (!is_named_in(fit_.wrapping, column)) return natural(column);
    return std::min(natural(column), std::max(kNarrow, table_.header[column].size()));
  }

  // All columns but the first, in the order in which they get space.
  std::vector<std::size_t> by_importance() const {
    std::vector<std::size_t> columns(table_.header.size());
    std::iota(columns.begin(), columns.end(), 0);
    columns.erase(columns.begin());
    const auto place = [this](std::size_t column) {
      return std::ranges::find(fit_.order, table_.header[column]) - fit_.order.begin();
    };
    std::ranges::stable_sort(columns, {}, place);
    return columns;
  }

  void choose_columns() {
    widths_.resize(table_.header.size());
    used_ = widths_[0] = std::min(natural(0), width_);
    shown_ = {0};
    for (const std::size_t column : by_importance()) {
      const std::size_t room = width_ - std::min(width_, used_ + kBetween);
      if (room < least(column)) {
        left_out_.push_back(table_.header[column]);
        continue;
      }
      widths_[column] = room < natural(column) ? least(column) : natural(column);
      used_ += kBetween + widths_[column];
      shown_.push_back(column);
    }
    std::ranges::sort(shown_);
  }

  void share_what_is_left() {
    for (const std::size_t column : shown_) {
      if (column == 0 || !is_named_in(fit_.wrapping, column)) continue;
      const std::size_t more = std::min(natural(column) - widths_[column], width_ - used_);
      widths_[column] += more;
      used_ += more;
    }
  }

  // Adds a row, which takes as many lines as the longest cell needs.
  void add_row(const std::vector<std::string>& row, Table& to) const {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (const std::size_t column : shown_) {
      cells.push_back(lines_of(row[column], widths_[column]));
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t line = 0; line < lines; ++line) {
      std::vector<std::string> words;
      for (const auto& cell : cells) words.push_back(line < cell.size() ? cell[line] : "");
      to.rows.push_back(std::move(words));
    }
  }

  const Table& table_;
  const Fit& fit_;
  std::size_t width_, used_ = 0;
  std::vector<std::size_t> shown_, widths_;
  std::vector<std::string> left_out_;
};

}  // namespace

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  if (width <= indent) return text;
  return fmt::format("{}",
                     fmt::join(lines_of(text, width - indent), "\n" + std::string(indent, ' ')));
}

std::string left_out_line(const std::vector<std::string>& columns, std::size_t width) {
  if (columns.empty()) return "";
  return wrapped(fmt::format("A wider terminal, or --md PATH, also shows: {}",
                             fmt::join(columns, ", ")),
                 width) +
         "\n";
}

std::string fitted(const Table& table, const Fit& fit, std::size_t width) {
  if (width == 0) return render(table, Format::kText);
  const Fitting fitting(table, fit, width);
  const std::string more = left_out_line(fitting.left_out(), width);
  return render(fitting.result(), Format::kText) + (more.empty() ? "" : "\n" + more);
}

std::string fitted(const Table& table, const Fit& fit) {
  return fitted(table, fit, terminal_width());
}

}  // namespace tessera::cli
