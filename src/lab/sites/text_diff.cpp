#include "lab/sites/text_diff.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::lab {
namespace {

using Lines = std::vector<std::string_view>;

// Returns length[i][j], the length of the longest common subsequence of before[i..] and after[j..].
std::vector<std::vector<int>> common_lengths(const Lines& before, const Lines& after) {
  std::vector<std::vector<int>> length(before.size() + 1, std::vector<int>(after.size() + 1));
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      length[i][j] = before[i] == after[j] ? length[i + 1][j + 1] + 1
                                           : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  return length;
}

// Returns every line of both texts in order, removed lines before added ones.
std::vector<DiffLine> all_lines(const Lines& before, const Lines& after) {
  const auto length = common_lengths(before, after);
  std::vector<DiffLine> lines;
  std::size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      lines.push_back({' ', std::string(before[i])});
      ++i, ++j;
    } else if (i < before.size() && (j == after.size() || length[i + 1][j] >= length[i][j + 1])) {
      lines.push_back({'-', std::string(before[i++])});
    } else {
      lines.push_back({'+', std::string(after[j++])});
    }
  }
  return lines;
}

// Returns "@@ -first,count +first,count @@" for lines[begin, end); first lines count from 1.
std::string hunk_head(const std::vector<DiffLine>& lines, std::size_t begin, std::size_t end) {
  const auto count = [&](std::size_t from, std::size_t to, char other) {
    return std::count_if(lines.begin() + from, lines.begin() + to,
                         [&](const DiffLine& line) { return line.mark != other; });
  };
  const auto side = [&](char other) {
    const auto lines_here = count(begin, end, other);
    return fmt::format("{},{}", count(0, begin, other) + (lines_here > 0), lines_here);
  };
  return fmt::format("@@ -{} +{} @@", side('+'), side('-'));
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<DiffLine> unified_diff(std::string_view before, std::string_view after, int context) {
  const std::vector<DiffLine> lines = all_lines(lines_of(before), lines_of(after));
  std::vector<bool> shown(lines.size());
  const auto count = static_cast<std::ptrdiff_t>(lines.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (lines[i].mark == ' ') continue;
    for (auto j = std::max<std::ptrdiff_t>(0, i - context); j < std::min(count, i + context + 1);
         ++j) {
      shown[j] = true;
    }
  }
  std::vector<DiffLine> diff;
  for (std::size_t begin = 0; begin < lines.size();) {
    if (!shown[begin]) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < lines.size() && shown[end]) ++end;
    diff.push_back({'@', hunk_head(lines, begin, end)});
    diff.insert(diff.end(), lines.begin() + begin, lines.begin() + end);
    begin = end;
  }
  return diff;
}

}  // namespace tessera::lab
