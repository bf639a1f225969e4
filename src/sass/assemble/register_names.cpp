#include "sass/assemble/register_names.h"

#include <cctype>
#include <regex>

#include "sass/assemble/assembly_error.h"

namespace tessera::sass {
namespace {

// Returns every name in a list of names and ranges: "R64-R71, R4" or "a0-a7".
std::vector<std::string> names_in(const std::string& text, std::size_t line, std::size_t column,
                                  const std::regex& one) {
  std::vector<std::string> names;
  static const std::regex kPart(R"(\s*([A-Za-z_]+)(\d*)(?:\s*-\s*([A-Za-z_]+)(\d+))?\s*(,|$))");
  std::size_t at = 0;
  while (at < text.size()) {
    std::smatch part;
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto flags = std::regex_constants::match_continuous;
    const bool is_read = std::regex_search(begin, text.end(), part, kPart, flags);
    const std::string stem = is_read ? part[1].str() : "", number = is_read ? part[2].str() : "";
    const bool is_range = is_read && part[3].matched;
    const int first = number.empty() ? 0 : std::stoi(number.substr(0, 6));
    const int last = is_range ? std::stoi(part[4].str().substr(0, 6)) : first;
    const bool is_good = is_read && std::regex_match(stem + number, one) && last >= first &&
                         last - first < 256 &&
                         (!is_range || (part[3].str() == stem && !number.empty()));
    if (!is_good) throw AssemblyError(line, column + at + 1, "expected a name or a range of them");
    for (int i = first; i <= last; ++i) {
      names.push_back(number.empty() ? stem : stem + std::to_string(i));
    }
    at += static_cast<std::size_t>(part.length());
  }
  return names;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> register_names(std::string_view text,
                                                                std::size_t line) {
  // A name begins with a small letter; names of opcodes and registers begin with a capital letter.
  static const std::regex kName("[a-z][A-Za-z_0-9]*"), kRegister("U?R[0-9]+|U?P[0-6]");
  constexpr std::size_t kWord = 5;  // ".name"
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw AssemblyError(line, 1, "expected .name NAME = REGISTER");
  const auto names = names_in(std::string(text.substr(kWord, equals - kWord)), line, kWord, kName);
  const auto registers =
      names_in(std::string(text.substr(equals + 1)), line, equals + 1, kRegister);
  if (names.size() != registers.size()) {
    throw AssemblyError(line, equals + 1,
                        std::to_string(names.size()) + " names for " +
                            std::to_string(registers.size()) + " registers");
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < names.size(); ++i) pairs.emplace_back(names[i], registers[i]);
  return pairs;
}

}  // namespace tessera::sass
