// Products of FP32 operands in f16x3, and their operands on the device that tests run on.
#pragma once

#include <algorithm>
#include <vector>

#include "device/buffer.h"
#include "problem/problem.h"
#include "tests/support/test_device.h"

namespace tessera {

using Floats = std::vector<float>;

inline Problem f16x3_product(std::int64_t m, std::int64_t n, std::int64_t k,
                             const char* layout = "NN") {
  Problem p{.m = m, .n = n, .k = k, .types = kF16x3Types, .order = Order::kRowMajor};
  set_layout(p, layout);
  return with_default_ld(p);
}

inline DeviceBuffer uploaded(const Floats& x) {
  DeviceBuffer buffer(small_test_device(), std::max<std::size_t>(1, x.size()) * sizeof(float));
  small_test_device().copy_in(buffer.address(), x.data(), x.size() * sizeof(float));
  return buffer;
}

}  // namespace tessera
