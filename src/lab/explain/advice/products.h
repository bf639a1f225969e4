// Whether a kernel multiplies as a product of matrices does: words that were loaded, each used
// more than once. Advice on tiles and sharing helps such a kernel and no other.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lab/model/resources.h"

namespace tessera::lab {

// The lines of the entry's PTX with a multiply-add whose two factors were loaded from memory.
std::set<int> product_lines(std::string_view ptx, std::string_view entry);

// True of tensor-core products, and where such multiply-adds are at least one in 32 instructions
// and one FLOP per byte that the launch touches: a vector added to another has less.
bool multiplies(const LaunchCounts& counts, std::string_view ptx, const std::string& entry);

}  // namespace tessera::lab
