// Batches as the vendor's library is asked for them, computed by a stand-in with the same
// functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/lab/timing/fake_device.h"
#include "tests/lab/timing/stand_in_cublas.h"

namespace tessera::lab {
namespace {

// Products of 3 x 2 x 4, alpha 2; shared A.
void expect_batch_right(bool pointers, Order order) {
  FakeDevice device(DeviceKind::kCuda);
  std::string reason;
  const auto vendor = make_vendor(device, stand_in(), {}, reason);
  ASSERT_TRUE(vendor) << reason;
  constexpr int kCount = 3;
  Problem problem = with_default_ld({.m = 3, .n = 2, .k = 4, .order = order, .alpha = 2});
  std::vector<float> a(12), b(kCount * 8), d(kCount * 10, -1);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 5) - 2;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
  problem.batch = {.kind = BatchKind::kStrided, .count = kCount, .stride_b = 8, .stride_d = 10};
  const void *all_a[kCount], *all_b[kCount], *all_d[kCount];
  for (int i = 0; i < kCount; ++i) all_a[i] = &a[0], all_b[i] = &b[i * 8], all_d[i] = &d[i * 10];
  const auto address = [](const void* at) { return reinterpret_cast<DeviceAddress>(at); };
  Operands operands{address(a.data()), address(b.data()), 0, address(d.data())};
  if (pointers) {
    problem.batch = {.kind = BatchKind::kPointers, .count = kCount, .alignment = 4};
    operands = {address(all_a), address(all_b), 0, address(all_d)};
  }
  const auto calls = vendor->calls(problem);
  EXPECT_EQ(calls.size(), pointers ? 1u : 5u) << "cuBLASLt takes no arrays of addresses";
  for (const VendorCall& call : calls) {
    std::fill(d.begin(), d.end(), -1.f);
    call.call(operands);
    for (int i = 0; i < kCount; ++i) {
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 2; ++c) {
          const bool column = order == Order::kColumnMajor;
          float sum = 0;
          for (int l = 0; l < 4; ++l) {
            sum += a[column ? r + 3 * l : 4 * r + l] * b[i * 8 + (column ? l + 4 * c : 2 * l + c)];
          }
          EXPECT_EQ(d[i * 10 + (column ? r + 3 * c : 2 * r + c)], 2 * sum) << call.name << i;
        }
      }
      EXPECT_EQ(d[i * 10 + 7], -1) << "between products";
    }
  }
}

TEST(Vendor, EveryCallComputesABatch) {
  for (const Order order : {Order::kColumnMajor, Order::kRowMajor}) {
    expect_batch_right(false, order);
    expect_batch_right(true, order);
  }
}

}  // namespace
}  // namespace tessera::lab
