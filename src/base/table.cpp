#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera {
namespace {

// The number of columns of UTF-8 text on a terminal: its characters, not its bytes.
std::size_t width_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-e%x ") == std::string_view::npos;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return right ? space + text : text + space;
}

std::string render_text(const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    std::size_t width = width_of(table.header[c]);
    bool numbers = true;
    for (const auto& row : table.rows) {
      width = std::max(width, width_of(row[c]));
      numbers = numbers && (row[c].empty() || row[c] == "-" || is_number(row[c]));
    }
    widths.push_back(width);
    right.push_back(numbers);
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      text += (c ? "  " : "") + padded(cells[c], widths[c], right[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(table.header);
  std::vector<std::string> rules;
  for (std::size_t width : widths) rules.emplace_back(width, '-');
  line(rules);
  for (const auto& row : table.rows) line(row);
  return out;
}

std::string joined(const std::vector<std::string>& cells, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += (i ? std::string(separator) : "") + cells[i];
  return out;
}

// Returns the text with `mark` inserted before every `special`.
std::string escaped(std::string_view text, char special, char mark) {
  std::string out;
  for (char c : text) {
    if (c == special) out += mark;
    out += c;
  }
  return out;
}

std::string markdown_line(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = escaped(cell, '|', '\\');
  return fmt::format("| {} |\n", joined(cells, " | "));
}

std::string render_markdown(const Table& table) {
  std::string out = markdown_line(table.header);
  out += fmt::format("|{}|\n", joined(std::vector<std::string>(table.header.size(), "---"), "|"));
  for (const auto& row : table.rows) out += markdown_line(row);
  return out;
}

std::string csv_line(std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    const bool quoted = cell.find_first_of(",\"\n") != std::string::npos;
    if (quoted) cell = fmt::format("\"{}\"", escaped(cell, '"', '"'));
  }
  return joined(cells, ",") + '\n';
}

std::string render_csv(const Table& table) {
  std::string out = csv_line(table.header);
  for (const auto& row : table.rows) out += csv_line(row);
  return out;
}

}  // namespace

std::string render(const Table& table, Format format) {
  if (format == Format::kMarkdown) return render_markdown(table);
  return format == Format::kCsv ? render_csv(table) : render_text(table);
}

}  // namespace tessera
