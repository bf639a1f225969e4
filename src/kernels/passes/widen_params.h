// Parameters of the launch that converts a BF16 operand to FP32. For host and device.
#pragma once

namespace tessera::passes {

inline constexpr int kWidenThreads = 256, kWidenCtasPerSm = 4;
inline constexpr int kWidenTogether = 8;  // neighbours of a line that a thread takes at a time

// A matrix of lines of adjacent elements, or a batch of them.
struct WidenParams {
  const void* from;  // or, of a batch of pointers, an array of addresses
  float* to;
  void* addresses;  // of such a batch: where the addresses of the copies go; else null
  long long lines, length;
  long long from_line, to_line;        // elements from line to line; to_line is at least length
  long long from_product, to_product;  // elements from product to product
  long long products;
};

}  // namespace tessera::passes
