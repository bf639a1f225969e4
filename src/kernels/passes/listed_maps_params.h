// Parameters of the launch that makes the tensor maps of a batch of matrices at listed addresses.
// For host and device.
#pragma once

#include "launch/params.h"

namespace tessera::passes {

inline constexpr int kListedMapsThreads = 128;
inline constexpr int kMappedOperands = 3;  // A, B and D

struct ListedMapsParams {
  TensorMap shapes[kMappedOperands];   // the map of each operand, with any address
  const void* lists[kMappedOperands];  // the addresses of each operand; null: it needs no maps
  TensorMap* maps;  // receives `products` maps of A, then as many of B, then of D
  long long products;
};

}  // namespace tessera::passes
