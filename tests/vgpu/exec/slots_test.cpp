// Values share places only when no lane can still need the other one.
#include <gtest/gtest.h>

#include "vgpu/exec/decode/draft.h"
#include "vgpu/exec/decode/liveness.h"

namespace tessera::vgpu {
namespace {

DraftOp op(std::initializer_list<Value> writes, std::initializer_list<Value> reads) {
  DraftOp op;
  for (Value v : writes) op.values[op.count++] = v;
  op.writes = op.count;
  for (Value v : reads) op.values[op.count++] = v;
  return op;
}

Draft draft_of(std::vector<std::vector<DraftOp>> blocks, std::vector<Scalar> scalars) {
  Draft draft;
  for (Scalar scalar : scalars) draft.values.push_back({scalar});
  for (auto& ops : blocks) {
    draft.blocks.emplace_back();
    draft.blocks.back().ops = std::move(ops);
  }
  return draft;
}

Function placed(const Draft& draft) {
  Function function;
  assign_slots(draft, find_liveness(draft), function);
  return function;
}

TEST(Slots, ChainOfValuesNeedsTwoPlaces) {
  std::vector<DraftOp> chain;
  for (Value v = 1; v < 50; ++v) chain.push_back(op({v}, {v - 1}));
  const auto function = placed(draft_of({chain}, std::vector<Scalar>(50, Scalar::k32)));
  EXPECT_EQ(function.frame_bytes, 2u * 128);
}

TEST(Slots, ValuesThatLiveTogetherStandApart) {
  const auto function = placed(
      draft_of({{op({0}, {}), op({1}, {}), op({2}, {0, 1})}}, std::vector<Scalar>(3, Scalar::k32)));
  EXPECT_NE(function.ops[0].operand[0], function.ops[1].operand[0]);
}

TEST(Slots, WidthsNeverShare) {
  const auto function = placed(
      draft_of({{op({0}, {}), op({}, {0}), op({1}, {}), op({}, {1})}}, {Scalar::k32, Scalar::k64}));
  EXPECT_EQ(function.frame_bytes, 128u + 256);
}

TEST(Slots, LoopKeepsWhatTheNextRoundReads) {
  // 0 and 1 before the loop; the loop reads 0 first and then makes a temporary.
  Draft draft = draft_of({{op({0}, {})}, {op({}, {0}), op({1}, {}), op({}, {1})}, {}},
                         {Scalar::k32, Scalar::k32});
  draft.blocks[1].control.kind = ControlKind::kBranch;
  draft.blocks[1].control.targets = {1};
  const auto function = placed(draft);
  EXPECT_NE(function.ops[0].operand[0], function.ops[2].operand[0]);
}

TEST(Slots, GuardedWriteKeepsTheOldValueAlive) {
  Draft draft =
      draft_of({{op({3}, {}), op({0}, {}), op({1}, {}), op({}, {1}), op({0}, {}), op({}, {0})}},
               {Scalar::k32, Scalar::k32, Scalar::k32, Scalar::kPredicate});
  draft.blocks[0].ops[4].guard = 3;
  const auto function = placed(draft);
  EXPECT_NE(function.ops[1].operand[0], function.ops[2].operand[0]);
}

TEST(Slots, WhatIsReadBeforeItIsWrittenIsPoisoned) {
  const Draft draft = draft_of({{op({1}, {0})}}, {Scalar::k32, Scalar::k32});
  EXPECT_EQ(find_liveness(draft).live_at_entry, std::vector<Value>{0});
  ASSERT_EQ(placed(draft).prefills.size(), 1u);
}

TEST(Slots, NeighboursOfOneOperationMakeOneStretch) {
  std::vector<DraftOp> ops = {op({0}, {}), op({1}, {}), op({2}, {})};
  ops[2].op.run = [](const Op*, const Op*, Lanes&) {};
  const auto function = placed(draft_of({ops}, std::vector<Scalar>(3, Scalar::k32)));
  ASSERT_EQ(function.stretches.size(), 2u);
  EXPECT_EQ(function.stretches[0].last, 2u);
}

}  // namespace
}  // namespace tessera::vgpu
