// What is known of other clusters, joined: nothing is copied where one side knows all of the other.
#include "vgpu/observe/check/clock.h"

#include <gtest/gtest.h>

namespace tessera::vgpu::check {
namespace {

SharedHorizon known(Horizon horizon) { return std::make_shared<const Horizon>(std::move(horizon)); }

TEST(Horizons, WhatIsKnownAlreadyIsNotCopied) {
  const SharedHorizon less = known({{1, {3, 4}}}), more = known({{1, {3, 5, 1}}, {2, {1}}});
  SharedHorizon to = more;
  join(to, less);
  EXPECT_EQ(to, more);
  to = less;
  join(to, more);
  EXPECT_EQ(to, more);
}

TEST(Horizons, EachSideAddsWhatTheOtherLacks) {
  const SharedHorizon one = known({{1, {3, 4}}, {7, {2}}}), other = known({{1, {5, 1, 0}}});
  SharedHorizon to = one;
  join(to, other);
  EXPECT_EQ(*to, (Horizon{{1, {5, 4, 0}}, {7, {2}}}));
  EXPECT_EQ(*one, (Horizon{{1, {3, 4}}, {7, {2}}})) << "others hold it too";
}

}  // namespace
}  // namespace tessera::vgpu::check
