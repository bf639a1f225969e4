// Each rule of tensor maps has a sentence that names the argument.
#include "launch/tensor_map.h"

#include <gtest/gtest.h>

#include <functional>

namespace tessera {
namespace {

TensorMapDesc legal() {
  TensorMapDesc desc;
  desc.type = TensorType::kBf16;
  desc.rank = 3;
  desc.address = 0x1000;
  desc.sizes = {100, 20, 4};
  desc.strides = {208, 4160};
  desc.box = {64, 8, 2};
  desc.swizzle = TensorSwizzle::k128B;
  return desc;
}

void expect_refused(const std::string& words, const std::function<void(TensorMapDesc&)>& spoil) {
  TensorMapDesc desc = legal();
  spoil(desc);
  const Status status = check(desc);
  EXPECT_EQ(status.code, StatusCode::kBadArgument) << words;
  EXPECT_NE(status.message.find(words), std::string::npos) << status.message;
}

TEST(TensorMapRules, ALegalMap) { EXPECT_TRUE(check(legal()).ok()); }

TEST(TensorMapRules, Place) {
  expect_refused("rank is 6", [](auto& d) { d.rank = 6; });
  expect_refused("rank is 0", [](auto& d) { d.rank = 0; });
  expect_refused("address is 0x1008", [](auto& d) { d.address = 0x1008; });
  expect_refused("address is 0x0", [](auto& d) { d.address = 0; });
  expect_refused("sizes[1] is 0", [](auto& d) { d.sizes[1] = 0; });
  expect_refused("sizes[2] is 4294967297", [](auto& d) { d.sizes[2] = (1ull << 32) + 1; });
  expect_refused("strides[0] is 200 bytes", [](auto& d) { d.strides[0] = 200; });
  expect_refused("below 2^40", [](auto& d) { d.strides[1] = 1ull << 40; });
}

TEST(TensorMapRules, Box) {
  expect_refused("box[1] is 257", [](auto& d) { d.box[1] = 257; });
  expect_refused("box[2] is 0", [](auto& d) { d.box[2] = 0; });
  expect_refused("element_strides[1] is 9", [](auto& d) { d.element_strides[1] = 9; });
  expect_refused("box[0] is 9 elements, 18 bytes", [](auto& d) { d.box[0] = 9; });
  expect_refused("a swizzle of 64 bytes allows 64",
                 [](auto& d) { d.swizzle = TensorSwizzle::k64B; });
}

TEST(TensorMapRules, Combinations) {
  expect_refused("interleaved layouts need 3", [](auto& d) {
    d.interleave = TensorInterleave::k16B;
    d.rank = 2;
  });
  expect_refused("swizzle must be 32 bytes", [](auto& d) {
    d.interleave = TensorInterleave::k32B;
    d.strides = {224, 4480};
  });
  expect_refused("floating-point", [](auto& d) {
    d.type = TensorType::kU16;
    d.fill = TensorFill::kNans;
  });
}

}  // namespace
}  // namespace tessera
