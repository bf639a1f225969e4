// The parameters of a kernel that computes X += B. Timed chains of products launch it before each
// product. Plain data with the same layout for the host compiler and nvcc; includes nothing.
#pragma once

namespace tessera {

// Both matrices are contiguous and have the same layout.
struct AddParams {
  const void* b;
  void* x;
  long long count;  // elements
};

}  // namespace tessera
