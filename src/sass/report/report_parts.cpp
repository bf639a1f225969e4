#include "sass/report/report_parts.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

namespace tessera::sass {

std::string percent(double share) {
  return share == 0 ? "-" : fmt::format("{:.1f} %", 100 * share);
}

std::string number(int count) { return count == 0 ? "-" : std::to_string(count); }

std::string rounded(double value) {
  if (value == std::floor(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, std::abs(value) < 10 ? 2 : 1);
}

std::string change(double before, double after, bool is_share) {
  if (before == after) return "";
  if (is_share) return fmt::format("{:+.1f} points", 100 * (after - before));
  return fmt::format("{}{}", after > before ? "+" : "", rounded(after - before));
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}", row[i], widths[i]) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (width != 0 && line.size() > width) line = line.substr(0, width - 2) + "..";
    text += line + "\n";
    if (&row == &rows.front()) {
      std::string rule;
      for (const std::size_t column : widths) rule += std::string(column, '-') + "  ";
      text +=
          rule.substr(0, width == 0 ? rule.size() - 2 : std::min(width, rule.size() - 2)) + "\n";
    }
  }
  return text;
}

std::string readable(const std::string& name) {
  int status = 1;
  char* const text = name.starts_with("_Z")
                         ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status)
                         : nullptr;
  std::string result = status == 0 && text ? text : name;
  std::free(text);
  return result;
}

std::string resources(const KernelReport& kernel) {
  const int spills = kernel.mix[Kind::kLocal];
  std::string text = fmt::format("{} registers a thread, {} static bytes of shared memory, ",
                                 kernel.registers, kernel.shared_bytes);
  text += kernel.local_bytes == 0 ? std::string("no stack, ")
                                  : fmt::format("{} bytes of stack a thread, ", kernel.local_bytes);
  text += spills == 0 ? "no spills" : fmt::format("{} local loads and stores", spills);
  if (kernel.max_threads != 0) text += fmt::format(", {} threads a block", kernel.max_threads);
  if (kernel.lines.empty())
    text += ". Source lines: unknown (a cubin keeps none without -lineinfo)";
  return text + ".";
}

std::string lines_text(const KernelReport& kernel, const LoopReport& loop) {
  std::map<std::string, std::map<int, int>> counts;
  for (const std::size_t member : loop.members) {
    const SourceLine& line = kernel.lines[member];
    if (line.line > 0) ++counts[line.file][line.line];
  }
  std::string text;
  for (const auto& [file, lines] : counts) {
    text += (text.empty() ? "" : "; ") + file.substr(file.rfind('/') + 1) + ":";
    for (const auto& [line, count] : lines) text += fmt::format(" {} ({})", line, count);
  }
  return text + (text.empty() ? "none for this loop." : "; in parentheses: instructions.");
}

std::string names_of(const Mix& mix, Kind kind) {
  std::vector<std::pair<int, std::string>> found;
  for (const auto& [name, count] : mix.names[static_cast<int>(kind)])
    found.push_back({-count, name});
  std::sort(found.begin(), found.end());
  std::string text;
  for (const auto& [count, name] : found) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", -count, name);
  }
  return text;
}

int count_of_stems(const Mix& mix, std::string_view stems) {
  int sum = 0;
  while (!stems.empty()) {
    const std::size_t end = stems.find(' ');
    sum += mix.of(stems.substr(0, end));
    stems.remove_prefix(end == std::string_view::npos ? stems.size() : end + 1);
  }
  return sum;
}

std::vector<std::string> all_names(const Mix& a, const Mix& b) {
  std::set<std::string> names;
  for (const Mix* mix : {&a, &b}) {
    for (const auto& by_name : mix->names) {
      for (const auto& [name, count] : by_name) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::string changed_instructions(const KernelReport& before, const KernelReport& after) {
  if (before.code.size() != after.code.size()) return "";
  int bytes = 0, words = 0;
  for (std::size_t i = 0; i < before.code.size(); ++i) {
    const Instruction &x = before.code[i], &y = after.code[i];
    if (x.low == y.low && x.high == y.high) continue;
    ++words;
    bytes += before.operations[i].name != after.operations[i].name;
  }
  if (words == 0) return "Every instruction is the same.\n";
  return fmt::format("{} of {} instructions differ, {} of them in their opcode.\n", words,
                     before.code.size(), bytes);
}

std::string control_columns(const Control& control) {
  const auto scoreboard = [](int number) {
    return number < 0 ? std::string("-") : std::to_string(number);
  };
  std::string waits, reuse;
  for (int i = 0; i < 6; ++i)
    waits += control.wait_mask >> i & 1 ? static_cast<char>('0' + i) : '-';
  for (int i = 0; i < 3; ++i) reuse += control.reuse >> i & 1 ? static_cast<char>('A' + i) : '-';
  return fmt::format("{:>2} {} w{} r{} {} {}", control.stall, control.yields ? 'Y' : '-',
                     scoreboard(control.write_scoreboard), scoreboard(control.read_scoreboard),
                     waits, reuse);
}

}  // namespace tessera::sass
