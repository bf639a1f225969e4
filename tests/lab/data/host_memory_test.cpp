#include "lab/data/host_memory.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace tessera::lab {
namespace {

std::string refusal(double bytes) {
  try {
    require_host_memory(bytes, "a product");
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    return error.status().message;
  }
  return "";
}

TEST(HostMemory, WhatIsThereIsGranted) {
  EXPECT_EQ(refusal(0), "");
  EXPECT_EQ(refusal(1 << 20), "");
}

TEST(HostMemory, SizesBeyond64BitsAreSaidAsTheyAre) {
  EXPECT_TRUE(refusal(2e14).starts_with("a product needs 200000.0 GB of host memory, and "));
  EXPECT_TRUE(refusal(3e25).starts_with("a product needs 3e+16 GB of host memory, and "));
}

}  // namespace
}  // namespace tessera::lab
