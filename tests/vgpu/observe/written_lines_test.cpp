// The lines that a launch stores to, as one run records them for the next.
#include "vgpu/observe/written_lines.h"

#include <gtest/gtest.h>

#include "tests/vgpu/observe/checked.h"

namespace tessera::vgpu {
namespace {

TEST(WrittenLines, KnowsTheLinesOfEachByte) {
  GlobalMemory memory(0);
  const std::uint64_t a = memory.allocate(64 << 10), b = memory.allocate(100);
  WrittenLines lines;
  EXPECT_FALSE(lines.is_recorded());
  lines.begin(memory);
  lines.mark(a + 127, 2);
  lines.mark(a + (40 << 10), 1);
  lines.mark(b + 4096, 4);  // nowhere
  const WrittenLinesOfBlock& block = *lines.find(a);
  EXPECT_TRUE(block.any(a, 4));
  EXPECT_TRUE(block.any(a + 252, 4));
  EXPECT_FALSE(block.any(a + 256, 4));
  EXPECT_TRUE(block.any(a + 252, 8));
  EXPECT_TRUE(block.any(a + 256, 40 << 10));
  EXPECT_FALSE(block.any(a + 256, (40 << 10) - 256));
  EXPECT_TRUE(block.any(a - 100, 101));
  EXPECT_FALSE(block.any(a - 100, 100));
  EXPECT_FALSE(lines.find(b)->any(b, 100));
  EXPECT_EQ(lines.find(b + 4096), nullptr);
}

// Warp 1 reads what warp 0 stores: found with and without the record, and a store that is not in
// the record says so.
TEST(WrittenLines, LeaveRacesWhereTheyAre) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.ne.u32 p, r0, 0;
    ld.global.u32 r1, [data+256];
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0+1024], r1;
    @p bra END;
    st.global.u32 [data+256], r0;
    END:)");
  const std::vector<std::uint32_t> words(1024);
  MachineOptions options;
  options.host_threads = 1;
  WrittenLines lines;
  options.observation.record_writes = &lines;
  run_text(text, words, threads(64), options);
  ASSERT_TRUE(lines.is_recorded());
  options = checking();
  options.observation.written_lines = &lines;
  expect_found(run_text(text, words, threads(64), options).report.findings, "race",
               "ld.global.u32");
  EXPECT_FALSE(lines.has_missed());
  GlobalMemory memory(0);
  memory.allocate(4 * words.size());
  lines.begin(memory);  // a record without any store
  run_text(text, words, threads(64), options);
  EXPECT_TRUE(lines.has_missed());
}

}  // namespace
}  // namespace tessera::vgpu
