#include "base/renamed.h"

#include <cctype>
#include <iterator>

namespace tessera {
namespace {

struct Renamed {
  std::string_view old_name, new_name;
};
constexpr Renamed kRenamed[] = {
#include "base/renamed.inc"
};

bool is_word(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

std::string replaced(const std::string& text, const Renamed& renamed) {
  const std::size_t length = renamed.old_name.size();
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = text.find(renamed.old_name); at != text.npos;
       at = text.find(renamed.old_name, at + length)) {
    if ((at > 0 && is_word(text, at - 1)) || is_word(text, at + length)) continue;
    result.append(text, done, at - done).append(renamed.new_name);
    done = at + length;
  }
  return result.append(text, done);
}

}  // namespace

std::string with_current_names(std::string_view text) {
  std::string result(text);
  for (const Renamed& renamed : kRenamed) result = replaced(result, renamed);
  return result;
}

std::string read_with_current_names(std::istream& stream) {
  return with_current_names(std::string(std::istreambuf_iterator<char>(stream), {}));
}

}  // namespace tessera
