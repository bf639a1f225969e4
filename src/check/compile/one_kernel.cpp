#include "check/compile/one_kernel.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace tessera::checking {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// A kernel's text in the PTX, from ".visible .entry" to the last brace.
struct Entry {
  std::string_view name;
  std::size_t begin = 0, end = 0;
};

// Returns the position after the comment or string that begins at `at`; `at` if none begins there.
std::size_t behind_comment(std::string_view ptx, std::size_t at) {
  std::size_t end = at;
  if (ptx.compare(at, 2, "//") == 0) {
    end = ptx.find('\n', at);
  } else if (ptx.compare(at, 2, "/*") == 0) {
    end = ptx.find("*/", at + 2);
  } else if (ptx[at] == '"') {
    end = ptx.find('"', at + 1);
    if (end != ptx.npos) ++end;
  }
  return std::min(end, ptx.size());
}

// Returns the position after the body of the declaration that begins at `at`, or after its ';'.
std::size_t end_of_declaration(std::string_view ptx, std::size_t at) {
  int depth = 0;
  while (at < ptx.size()) {
    const std::size_t further = behind_comment(ptx, at);
    if (further != at) {
      at = further;
      continue;
    }
    const char c = ptx[at++];
    if (c == ';' && depth == 0) return at;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == '}' && depth == 0) return at;
  }
  return at;
}

// Returns where ".visible .entry" or ".weak .entry" begins. `entry` is the position of the word
// ".entry".
std::size_t begin_of_entry(std::string_view ptx, std::size_t entry) {
  std::size_t last = entry;
  while (last > 0 && std::isspace(static_cast<unsigned char>(ptx[last - 1])) != 0) --last;
  for (const std::string_view word : {".visible", ".weak", ".extern"}) {
    if (ptx.substr(0, last).ends_with(word)) return last - word.size();
  }
  return entry;
}

std::vector<Entry> entries_of(std::string_view ptx) {
  constexpr std::string_view kWord = ".entry";
  std::vector<Entry> entries;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t further = behind_comment(ptx, at);
    if (further != at) {
      at = further;
      continue;
    }
    if (ptx.compare(at, kWord.size(), kWord) != 0) {
      ++at;
      continue;
    }
    Entry entry;
    entry.begin = begin_of_entry(ptx, at);
    if (!entries.empty()) entry.begin = std::max(entry.begin, entries.back().end);
    std::size_t first = at + kWord.size();
    while (first < ptx.size() && std::isspace(static_cast<unsigned char>(ptx[first])) != 0) ++first;
    std::size_t last = first;
    while (last < ptx.size() && is_name_character(ptx[last])) ++last;
    entry.name = ptx.substr(first, last - first);
    entry.end = at = end_of_declaration(ptx, last);
    entries.push_back(entry);
  }
  return entries;
}

bool names_any(std::string_view text, const std::set<std::string_view>& names) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t further = behind_comment(text, at);
    if (further != at || !is_name_character(text[at])) {
      at = std::max(further, at + 1);
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_name_character(text[end])) ++end;
    if (names.count(text.substr(at, end - at)) != 0) return true;
    at = end;
  }
  return false;
}

}  // namespace

std::string with_one_kernel(const std::string& ptx, const std::string& kernel) {
  const std::vector<Entry> entries = entries_of(ptx);
  std::set<std::string_view> others;
  std::string text;
  std::size_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.name == kernel) continue;
    others.insert(entry.name);
    text.append(ptx, at, entry.begin - at);
    const auto begin = ptx.begin() + static_cast<std::ptrdiff_t>(entry.begin);
    const auto end = ptx.begin() + static_cast<std::ptrdiff_t>(entry.end);
    text.append(static_cast<std::size_t>(std::count(begin, end, '\n')), '\n');
    at = entry.end;
  }
  text.append(ptx, at);
  const bool is_there = others.size() < entries.size();
  return is_there && !names_any(text, others) ? text : ptx;
}

}  // namespace tessera::checking
