// Decides whether a kernel multiplies as a matrix product does: the words that it loads are each
// used more than once. Advice on tiles and sharing helps only such kernels.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lab/model/resources.h"

namespace tessera::lab {

// Returns the lines of the entry's PTX with a multiply-add whose two factors were loaded from
// memory.
std::set<int> product_lines(std::string_view ptx, std::string_view entry);

// True for products on tensor cores. Else true if multiply-adds of loaded factors are at least 1/32
// of the instructions and 1 FLOP per touched byte. The sum of two vectors has less.
bool multiplies(const LaunchCounts& counts, std::string_view ptx, const std::string& entry);

}  // namespace tessera::lab
