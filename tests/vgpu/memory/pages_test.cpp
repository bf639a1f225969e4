// Memory of the virtual GPU takes room where it is touched, however large an array is.
#include "vgpu/memory/pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "vgpu/memory/global.h"

namespace tessera::vgpu {
namespace {

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(FilledMemory, HoldsOnesEverywhere) {
  GlobalMemory memory(std::size_t{1} << 40);
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{1} << 20, (std::size_t{1} << 30) + 5}) {
    const std::byte* host = memory.host(memory.allocate(bytes), bytes);
    for (std::size_t at = 0; at < bytes; at += std::max<std::size_t>(1, bytes / 1000)) {
      ASSERT_EQ(host[at], std::byte{0xff}) << at << " of " << bytes;
    }
    ASSERT_EQ(host[bytes - 1], std::byte{0xff}) << bytes;
  }
}

TEST(FilledMemory, OfALargeArrayIsTakenWhereItIsWritten) {
  const std::size_t before = resident_bytes(), bytes = std::size_t{16} << 30;
  GlobalMemory memory(std::size_t{1} << 40);
  const std::uint64_t first = memory.allocate(bytes), second = memory.allocate(bytes);
  std::byte* host = memory.host(first, bytes);
  for (std::size_t at = 0; at < bytes; at += std::size_t{1} << 30) host[at] = std::byte{1};
  EXPECT_EQ(host[0], std::byte{1});
  EXPECT_EQ(host[1], std::byte{0xff});
  EXPECT_EQ(host[std::size_t{16} << 20], std::byte{0xff}) << "a write shows in another piece";
  EXPECT_EQ(*memory.host(second, 1), std::byte{0xff}) << "a write shows in another array";
  EXPECT_LT(resident_bytes() - before, std::size_t{64} << 20);
}

// A few kilobytes past one array lie in no other.
TEST(GlobalMemory, ArraysAreFarApart) {
  GlobalMemory memory(std::size_t{1} << 20);
  for (const std::size_t bytes : {1, 256, 257}) {
    const std::uint64_t first = memory.allocate(bytes), second = memory.allocate(bytes);
    EXPECT_GE(second - (first + bytes), 4096u) << bytes;
  }
}

}  // namespace
}  // namespace tessera::vgpu
