// The table of operands, and the rules that walk it.
#include "problem/operands.h"

#include <gtest/gtest.h>

#include <set>

namespace tessera {
namespace {

Problem with_every_operand() {
  Problem p{.m = 3, .n = 5, .k = 7, .alpha = 1, .beta = 1};
  p.types = {ElementType::kF16, ElementType::kF16, ElementType::kF32, ElementType::kF16,
             ComputeType::kF32};
  p.batch = {.kind = BatchKind::kStrided,
             .count = 4,
             .stride_a = 100,
             .stride_b = 0,
             .stride_c = 30,
             .stride_d = 40};
  p.epilogue = {.scale = VectorKind::kPerRow,
                .bias = VectorKind::kPerColumn,
                .auxiliary = Auxiliary::kBeforeActivation};
  p.batch.stride_x = 60;
  return with_default_ld(p);
}

Operands apart() {
  return {.a = 0x10000,
          .b = 0x20000,
          .c = 0x30000,
          .d = 0x40000,
          .scale = 0x50000,
          .bias = 0x60000,
          .x = 0x70000};
}

TEST(OperandTable, IsInTheOrderOfTheIds) {
  const auto table = OperandTable(with_every_operand()).rows;
  std::set<std::uint64_t> addresses;
  for (std::size_t i = 0; i < kOperands; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(table[i].id), i);
    EXPECT_TRUE(table[i].is_used()) << table[i].name;
    EXPECT_TRUE(addresses.insert(apart()[table[i].id]).second) << table[i].name;
  }
  EXPECT_EQ(table[3].use, Use::kWritten);
  EXPECT_EQ(table[6].use, Use::kWritten);
}

TEST(OperandTable, HasTypesSizesAndStridesOfEachOperand) {
  const auto table = OperandTable(with_every_operand()).rows;
  const struct {
    std::string_view name;
    int bytes;
    std::int64_t rows, cols, stride;
  } rows[] = {{"A", 2, 3, 7, 100},   {"B", 2, 7, 5, 0},    {"C", 4, 3, 5, 30}, {"D", 2, 3, 5, 40},
              {"scale", 4, 3, 1, 0}, {"bias", 2, 5, 1, 0}, {"X", 2, 3, 5, 60}};
  for (std::size_t i = 0; i < kOperands; ++i) {
    EXPECT_EQ(table[i].name, rows[i].name);
    EXPECT_EQ(size_of(table[i].type), rows[i].bytes) << rows[i].name;
    EXPECT_EQ(table[i].view.rows, rows[i].rows) << rows[i].name;
    EXPECT_EQ(table[i].view.cols, rows[i].cols) << rows[i].name;
    EXPECT_EQ(table[i].product_stride, rows[i].stride) << rows[i].name;
  }
}

TEST(OperandTable, SaysWhatIsUsed) {
  const auto used = [](const Problem& p) {
    std::string names;
    for (const Operand& one : OperandTable(p)) {
      if (one.is_used()) names += std::string(one.name) + " ";
    }
    return names;
  };
  Problem p = with_every_operand();
  EXPECT_EQ(used(p), "A B C D scale bias X ");
  p.epilogue = {};
  EXPECT_EQ(used(p), "A B C D ");
  p.beta = 0;
  EXPECT_EQ(used(p), "A B D ");
  p.alpha = 0;
  EXPECT_EQ(used(p), "D ");
  p.alpha = 1;
  p.k = 0;
  EXPECT_EQ(used(p), "D ");
}

// Elements of the last product begin three strides after the first.
TEST(OperandTable, SpansAllProducts) {
  const Problem p = with_every_operand();
  const std::uint64_t expected[] = {(300 + 3 * 7) * 2, 7 * 5 * 2, (90 + 3 * 5) * 4,
                                    (120 + 3 * 5) * 2, 3 * 4,     5 * 2,
                                    (180 + 3 * 5) * 2};
  const auto table = OperandTable(p).rows;
  for (std::size_t i = 0; i < kOperands; ++i) {
    EXPECT_EQ(table[i].bytes, expected[i]) << table[i].name;
  }
  Problem pointers = p;
  pointers.batch = {.kind = BatchKind::kPointers, .count = 4, .alignment = 16};
  const auto lists = OperandTable(pointers).rows;
  for (std::size_t i = 0; i < kOperands; ++i) {
    EXPECT_EQ(lists[i].bytes, lists[i].is_matrix ? 4 * 8 : expected[i]) << lists[i].name;
  }
}

TEST(Addresses, AreCheckedOneByOne) {
  const Problem p = with_every_operand();
  EXPECT_TRUE(check_addresses(p, apart()).ok());
  for (const Operand& one : OperandTable(p)) {
    Operands at = apart();
    at[one.id] = 0;
    EXPECT_EQ(check_addresses(p, at).message,
              "address of " + std::string(one.name) + " is 0, but " + std::string(one.why_used));
    at[one.id] = apart()[one.id] + static_cast<unsigned>(size_of(one.type)) / 2;
    EXPECT_NE(check_addresses(p, at).message.find("must be a multiple of its element's bytes"),
              std::string::npos)
        << one.name;
    at[one.id] = ~std::uint64_t{7};
    EXPECT_NE(check_ranges(p, at).message.find("address of " + std::string(one.name)),
              std::string::npos);
  }
}

TEST(Addresses, OfUnusedOperandsMayBeAnything) {
  Problem p = with_every_operand();
  p.alpha = p.beta = 0;
  p.epilogue = {};
  Operands at{.a = 1, .b = 3, .c = ~std::uint64_t{0}, .d = 0x40000, .scale = 5, .bias = 7};
  EXPECT_TRUE(check_addresses(p, at).ok());
  EXPECT_TRUE(check_ranges(p, at).ok());
  EXPECT_TRUE(check_overlap(p, at).ok());
  const Operands used = used_operands(p, at);
  EXPECT_EQ(used.d, at.d);
  EXPECT_EQ(used.a | used.b | used.c | used.scale | used.bias, 0u);
}

// Each operand in turn lies on the first element of D.
TEST(Overlap, NamesTheOperand) {
  const Problem p = with_every_operand();
  EXPECT_TRUE(check_overlap(p, apart()).ok());
  for (const Operand& one : OperandTable(p)) {
    if (one.use != Use::kRead) continue;
    Operands at = apart();
    at[one.id] = at.d;
    EXPECT_NE(check_overlap(p, at).message.find(one.name), std::string::npos) << one.name;
  }
}

TEST(Addresses, OfAProductFollowTheStrides) {
  const Problem p = with_every_operand();
  const Operands third = operands_of_product(p, apart(), 3);
  EXPECT_EQ(third.a, 0x10000u + 3 * 100 * 2);
  EXPECT_EQ(third.b, 0x20000u);
  EXPECT_EQ(third.c, 0x30000u + 3 * 30 * 4);
  EXPECT_EQ(third.d, 0x40000u + 3 * 40 * 2);
  EXPECT_EQ(third.scale, 0x50000u);
  EXPECT_EQ(third.bias, 0x60000u);
}

// Twice exchanged it is the same problem, and what is multiplied stays: view by view.
TEST(Exchange, IsItsOwnInverse) {
  Problem p = with_every_operand();
  p.op_a = Op::kTranspose;
  p = with_default_ld(p);
  const Problem other = exchanged(p);
  EXPECT_EQ(other.order, Order::kRowMajor);
  EXPECT_EQ(view_a(other).row, view_b(p).col);
  EXPECT_EQ(view_a(other).col, view_b(p).row);
  EXPECT_EQ(view_b(other).row, view_a(p).col);
  EXPECT_EQ(view_d(other).row, view_d(p).col);
  EXPECT_EQ(other.epilogue.scale, VectorKind::kPerColumn);
  const Problem again = exchanged(other);
  EXPECT_EQ(again.m, p.m);
  EXPECT_EQ(again.op_a, p.op_a);
  EXPECT_EQ(again.op_b, p.op_b);
  EXPECT_EQ(again.epilogue, p.epilogue);
  EXPECT_EQ(again.batch, p.batch);
}

}  // namespace
}  // namespace tessera
