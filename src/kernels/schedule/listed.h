// The matrices of a batch whose addresses are in a list in device memory.
#pragma once

namespace tessera::schedule {

// Returns the bytes from the list itself to matrix `i`. WHY not the matrix's address: the compiler
// knows that the list, a kernel parameter, is in global memory, and so is `list` plus a distance.
// Of an address that was loaded it knows nothing, and would use generic loads and stores.
__device__ inline long long distance_of_listed(const void* list, int i) {
  return static_cast<const long long*>(list)[i] - reinterpret_cast<long long>(list);
}

}  // namespace tessera::schedule
