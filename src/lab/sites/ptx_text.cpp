#include "lab/sites/ptx_text.h"

#include <cctype>
#include <charconv>

namespace tessera::lab {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$' ||
         c == '.' || c == '-';
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<int> integer_of(std::string_view word) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t comment = line.find("//");
  if (comment != line.npos) line = line.substr(0, comment);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())))
    line.remove_prefix(1);
  return line;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

bool opens(std::string_view line, std::string_view entry) {
  const std::size_t at = line.find(".entry ");
  if (at == line.npos) return false;
  const std::string_view name = line.substr(at + 7);
  return name.substr(0, name.find_first_of("( \t")) == entry;
}

}  // namespace tessera::lab
