// The addresses of the operands of one product of a batch: at fixed distances from the addresses of
// the first product, or listed in arrays in device memory.
#pragma once

#include "kernels/schedule/batch.h"
#include "launch/params.h"

namespace tessera::schedule {

struct Addresses {
  const void* a;
  const void* b;
  const void* c;  // null if C is not read
  void* d;
};

// Returns the addresses of product `i`. Arrays of operands that are not read may be null.
__device__ inline Addresses addresses_of(const GemmParams& p, const Batch& batch, long long i) {
  const bool reads_ab = p.k > 0, reads_c = p.beta != 0;
  if (batch.pointers) {
    const auto at = [i](const void* array) { return static_cast<char* const*>(array)[i]; };
    return {reads_ab ? at(p.a) : nullptr, reads_ab ? at(p.b) : nullptr, reads_c ? at(p.c) : nullptr,
            at(p.d)};
  }
  return {static_cast<const char*>(p.a) + i * batch.a, static_cast<const char*>(p.b) + i * batch.b,
          reads_c ? static_cast<const char*>(p.c) + i * batch.c : nullptr,
          static_cast<char*>(p.d) + i * batch.d};
}

// Returns the problem with its addresses replaced by `at`.
__device__ inline GemmParams with_addresses(GemmParams p, const Addresses& at) {
  p.a = at.a, p.b = at.b, p.c = at.c, p.d = at.d;
  return p;
}

}  // namespace tessera::schedule
