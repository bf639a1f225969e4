#include "catalog/rung.h"

namespace tessera::catalog {

std::string entry_name(std::string_view kernel, std::string_view variant, Sides sides) {
  std::string name = std::string(kernel) + "__" + std::string(variant);
  if (sides.a == Contiguous::kStrided) return name;
  name += sides.a == Contiguous::kK ? "_ak" : "_am";
  name += sides.b == Contiguous::kN ? "_bn" : "_bk";
  return name;
}

std::string name_space_of(const std::string& rung) {
  return "tessera::" + rung.substr(rung.find_first_not_of("0123456789_"));
}

}  // namespace tessera::catalog
