// Smaller values of a program's variables, for launches that take less time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::checking {

using Values = std::map<std::string, std::int64_t>;

// Returns the values, and then smaller ones. Each step halves the largest value and all values
// equal to it, so that a square stays square, and the width stays the same while there are more
// rows than columns. No value falls below 16.
std::vector<Values> halvings_of(const Values& values);
std::int64_t smallest_of(std::int64_t value);

}  // namespace tessera::checking
