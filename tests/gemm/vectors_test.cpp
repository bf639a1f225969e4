// Lines that allow access by 16 bytes, up to the longest.
#include "gemm/vectors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tessera::gemm {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Vectors, AreWholeAtMultiplesOf16Bytes) {
  for (const int bytes : {1, 2, 4, 8, 16}) {
    for (std::int64_t elements = 0; elements < 40; ++elements) {
      EXPECT_EQ(are_whole_vectors(elements, bytes), elements * bytes % 16 == 0)
          << elements << " of " << bytes;
    }
  }
}

// A product that has no such number does not compile here.
static_assert(are_whole_vectors(std::int64_t{1} << 62, 8));
static_assert(!are_whole_vectors(kMost, 4) && !are_whole_vectors(kMost, 2));

}  // namespace
}  // namespace tessera::gemm
