// The threads that load a word and those that read it, compared with the source of a rung.
#include "lab/draw/element.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "device/virtual/virtual_device.h"

namespace tessera::lab {
namespace {

ElementUse use_of(const char* kernel, const char* element, Order order = Order::kRowMajor) {
  const std::unique_ptr<Device> device = make_virtual_device();
  const KernelChoice choice = choose_kernels(kernel).front();
  const Problem problem{128, 64, 96, choice.kernel->types, order};
  return element_use(*device, choice, problem, parse_element("--element", element), SourceTree());
}

// Every `step`th thread from `first` on, `count` of them, once each.
std::map<int, int> once_each(int first, int count, int step = 1) {
  std::map<int, int> readers;
  for (int i = 0; i < count; ++i) readers[first + i * step] = 1;
  return readers;
}

// Thread (y 5, x 7) writes it; the lanes of warp 5 read it, once in each of 96 / 32 tiles.
TEST(Element, ATileReadAlongItsRows) {
  const ElementUse use = use_of("03", "tile_a[5][7]");
  ASSERT_EQ(use.phases.size(), 3u);
  for (const ElementPhase& phase : use.phases) {
    EXPECT_EQ(phase.writers, std::set<int>{5 * 32 + 7});
    EXPECT_EQ(phase.readers, once_each(5 * 32, 32));
  }
  EXPECT_EQ(use.address, (5u * 32 + 7) * 4);
  ASSERT_EQ(use.read_at.size(), 1u);
  EXPECT_TRUE(use.read_at.begin()->starts_with("src/ladder/03_shared_tile/kernel.cu:"));
}

// The other tile is (n, k): column 5 of the outputs reads it, one thread of each warp.
TEST(Element, ATileReadAlongItsColumns) {
  const ElementUse use = use_of("03", "tile_b[5][7]");
  ASSERT_EQ(use.phases.size(), 3u);
  EXPECT_EQ(use.phases[1].writers, std::set<int>{7 * 32 + 5});
  EXPECT_EQ(use.phases[1].readers, once_each(5, 32, 32));
}

// Block 16 x 16: threads are numbered along the rows of the block.
TEST(Element, ASmallerBlock) {
  const ElementUse use = use_of("03/16x16x16", "tile_a[5][7]");
  ASSERT_EQ(use.phases.size(), 6u);
  EXPECT_EQ(use.phases[0].writers, std::set<int>{5 * 16 + 7});
  EXPECT_EQ(use.phases[0].readers, once_each(5 * 16, 16));
}

// Vectors: one thread writes four words, and each of 16 threads along n wants this one.
TEST(Element, AWordOfAVector) {
  const ElementUse use = use_of("09", "tile_a[3][9]");
  ASSERT_EQ(use.phases.size(), 12u);
  EXPECT_EQ(use.phases[0].writers.size(), 1u);
  EXPECT_EQ(use.phases[0].readers, once_each(16, 16));
}

// Row 5 of A is loaded by the blocks of its row of tiles, by one thread each.
TEST(Element, AnOperandIsSharedByBlocks) {
  const ElementUse use = use_of("03", "A[5][7]");
  EXPECT_EQ(use.blocks, (std::vector<std::uint64_t>{0, 1}));
  for (const ElementPhase& phase : use.phases) {
    EXPECT_TRUE(phase.writers.empty());
    EXPECT_EQ(phase.readers, once_each(5 * 32 + 7, 1));
  }
  EXPECT_EQ(use_of("02", "A[5][7]").phases[0].readers, once_each(5 * 32, 32));
  const ElementUse out = use_of("03", "D[127][63]");
  EXPECT_EQ(out.blocks, std::vector<std::uint64_t>{7});
  EXPECT_EQ(out.phases[0].writers, std::set<int>{1023});
}

// Column-major, A is the kernel's second operand: columns of blocks share it.
TEST(Element, NamesTheCallersOperands) {
  EXPECT_EQ(use_of("03", "A[5][7]", Order::kColumnMajor).blocks,
            (std::vector<std::uint64_t>{0, 4}));
}

TEST(Element, WordsAndDrawing) {
  const ElementUse use = use_of("03", "tile_a[5][7]");
  const std::string text = render(use);
  EXPECT_NE(text.find("written by thread 167 (warp 5, lane 7)"), std::string::npos) << text;
  EXPECT_NE(text.find("iterations 0 to 2"), std::string::npos) << text;
  EXPECT_NE(text.find("160 rrrrrrrBrrrr"), std::string::npos) << text;
  const Json json = to_json(use);
  EXPECT_EQ(json.at("phases").at(0).at("writers"), Json::array({167}));
  EXPECT_EQ(json.at("phases").at(0).at("readers").size(), 32u);
  EXPECT_NE(element_svg(use).find("class=\"own\""), std::string::npos);
}

std::string refusal_of(const char* kernel, const char* element) {
  try {
    use_of(kernel, element);
  } catch (const StatusError& error) {
    return error.what();
  }
  return "";
}

TEST(Element, WhatIsRefused) {
  EXPECT_NE(refusal_of("03", "tile_a").find("tile_a[5][7]"), std::string::npos);
  EXPECT_NE(refusal_of("03", "tile_x[1][2]").find("no array 'tile_x'"), std::string::npos);
  EXPECT_NE(refusal_of("03", "tile_a[32][0]").find("below 32"), std::string::npos);
  EXPECT_NE(refusal_of("03", "tile_a[3]").find("2 indices"), std::string::npos);
  EXPECT_NE(refusal_of("03", "A[0][96]").find("below 96"), std::string::npos);
}

}  // namespace
}  // namespace tessera::lab
