// The parameters of X += B, which a chain of products launches ahead of each product. Plain data
// that the host compiler and nvcc lay out alike; includes nothing.
#pragma once

namespace tessera {

// Both matrices lie without gaps, in the same layout.
struct AddParams {
  const void* b;
  void* x;
  long long count;  // elements
};

}  // namespace tessera
