// Smaller values of a program's variables, for launches that take less time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::checking {

using Values = std::map<std::string, std::int64_t>;

// From the values themselves down: each time the largest is halved, with those as large as it, so
// that what is square stays square and a width stays while there are more rows than that. None is
// made smaller than 16.
std::vector<Values> halvings_of(const Values& values);
std::int64_t smallest_of(std::int64_t value);

}  // namespace tessera::checking
