// Parameters of the launch that converts a BF16 operand to FP32. For host and device.
#pragma once

namespace tessera::passes {

inline constexpr int kWidenThreads = 256, kWidenCtasPerSm = 4;
inline constexpr int kWidenTogether = 8;  // neighbours of a line that a thread converts at a time

// A matrix with lines of adjacent elements, or a batch of such matrices.
struct WidenParams {
  const void* from;  // the matrix; for a batch of pointers, an array of addresses
  float* to;
  void* addresses;  // for a batch of pointers: receives the addresses of the copies; else null
  long long lines, length;
  long long from_line, to_line;        // elements between lines; to_line is at least length
  long long from_product, to_product;  // elements between products
  long long products;
};

}  // namespace tessera::passes
