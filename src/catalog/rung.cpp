#include "catalog/rung.h"

#include <cctype>

namespace tessera::catalog {

std::string entry_name(std::string_view kernel, std::string_view variant, Majors majors) {
  std::string name = std::string(kernel) + "__" + std::string(variant);
  if (majors.a == Major::kStrided) return name;
  name += majors.a == Major::kK ? "_ak" : "_am";
  name += majors.b == Major::kN ? "_bn" : "_bk";
  return name;
}

std::string name_space_of(const std::string& rung) {
  return "tessera::" + rung.substr(rung.find_first_not_of("0123456789_"));
}

std::string table_of(std::string_view words) {
  std::string table = "k";
  bool begins = true;
  for (const char c : words) {
    if (c != '_') table += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return table;
}

}  // namespace tessera::catalog
