// The proof of equality: what may change places, and what it refuses.
#include "sass/model/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "sass/model/renamed_values.h"
#include "sass/model/renaming.h"
#include "sass/rewrite/encode.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

const Program& subject() {
  static const Program program = program_named("rung_09_tile_8x8__128x128x8_am_bn");
  return program;
}

// The first FFMA followed by another that has nothing to do with it.
std::size_t independent_pair(const Program& program) {
  for (std::size_t at = 0; at + 1 < program.code.size(); ++at) {
    const Operation &first = program.operations[at], &second = program.operations[at + 1];
    if (first.name != "FFMA" || second.name != "FFMA" || first.reads.size() != 3) continue;
    bool meets = first.writes[0].first == second.writes[0].first;
    for (const RegisterUse& use : first.reads) meets |= use.first == second.writes[0].first;
    for (const RegisterUse& use : second.reads) meets |= use.first == first.writes[0].first;
    if (!meets) return at;
  }
  throw std::runtime_error("no such pair");
}

TEST(Values, AKernelEqualsItself) {
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile cubin = read_cubin(image->cubin);
    const Program program = program_of(cubin.kernels[0], cubin.sm);
    const Equality equality = prove_equal(program, program);
    EXPECT_TRUE(equality.is_proved) << image->name << ": " << equality.reason;
    EXPECT_EQ(equality.blocks, program.blocks.size());
    EXPECT_GT(equality.effects, 0u);
  }
}

TEST(Values, IndependentInstructionsMayChangePlaces) {
  const std::size_t at = independent_pair(subject());
  EXPECT_TRUE(prove_equal(subject(), exchanged(subject(), at, at + 1)).is_proved);
}

TEST(Values, ControlFieldsAreNoValues) {
  const std::size_t at = independent_pair(subject());
  Control control = subject().operations[at].control;
  control.stall = 9;
  EXPECT_TRUE(prove_equal(subject(), with_control_at(subject(), at, control)).is_proved);
}

TEST(Values, AnotherOperandIsRefusedByPlace) {
  Program other = subject();
  const std::size_t at = independent_pair(other);
  Instruction changed = other.code[at];
  changed.low ^= std::uint64_t{1} << 24;  // another register for A
  replace(other, at, changed);
  const Equality equality = prove_equal(subject(), other);
  EXPECT_FALSE(equality.is_proved);
  EXPECT_NE(equality.reason.find("rung_09"), std::string::npos) << equality.reason;
}

// Two kernels that begin with a barrier, of different numbers.
TEST(Values, TheFirstInstructionCounts) {
  Program before = subject();
  const auto barrier =
      std::find_if(before.operations.begin(), before.operations.end(),
                   [](const Operation& one) { return one.name.starts_with("BAR"); });
  ASSERT_NE(barrier, before.operations.end());
  Instruction first = before.code[static_cast<std::size_t>(barrier - before.operations.begin())];
  replace(before, 0, first);
  BlockRenaming same;
  for (int reg = 0; reg < 255; ++reg) same.emplace_back(reg, reg);
  const std::vector<BlockRenaming> own_names(before.blocks.size(), same);
  EXPECT_TRUE(prove_equal(before, before).is_proved);
  EXPECT_TRUE(prove_equal(before, before, own_names).is_proved);
  Program after = before;
  first.low ^= std::uint64_t{1} << 54;
  replace(after, 0, first);
  EXPECT_NE(after.operations[0].text, before.operations[0].text);
  EXPECT_FALSE(prove_equal(before, after).is_proved);
  EXPECT_FALSE(prove_equal(before, after, own_names).is_proved);
}

// a * b + c and b * a + c are one number but for the payload of NaN: not proved, so refused.
TEST(Values, ExchangedFactorsAreRefused) {
  Program other = subject();
  const std::size_t at = independent_pair(other);
  const Instruction& old = other.code[at];
  Instruction changed = old;
  changed.low &= ~(std::uint64_t{0xFFFF} << 24);
  changed.low |= old.bits(24, 8) << 32 | old.bits(32, 8) << 24;
  replace(other, at, changed);
  EXPECT_FALSE(prove_equal(subject(), other).is_proved);
}

TEST(Values, MemoryKeepsItsOrder) {
  const Program& program = subject();
  for (std::size_t at = 0; at + 1 < program.code.size(); ++at) {
    const bool loads =
        program.operations[at].name == "LDS.128" && program.operations[at + 1].name == "LDS.128";
    if (!loads || program.code[at].low == program.code[at + 1].low) continue;
    const Equality equality = prove_equal(program, exchanged(program, at, at + 1));
    EXPECT_FALSE(equality.is_proved);
    EXPECT_NE(equality.reason.find("LDS"), std::string::npos) << equality.reason;
    return;
  }
  FAIL() << "no two loads";
}

// Two registers that no tuple holds.
std::pair<int, int> single_registers(const Program& program) {
  std::map<int, int> widest;
  for (const Operation& operation : program.operations) {
    for (const std::vector<RegisterUse>* uses : {&operation.reads, &operation.writes}) {
      for (const RegisterUse& use : *uses) {
        if (use.file != RegisterFile::kGeneral) continue;
        for (int i = 0; i < use.count; ++i) {
          widest[use.first + i] = std::max(widest[use.first + i], use.count);
        }
      }
    }
  }
  std::vector<int> single;
  for (const auto& [reg, width] : widest) {
    if (width == 1 && reg != 1) single.push_back(reg);
  }
  return {single.at(0), single.at(1)};
}

TEST(Values, RenamedRegistersAreFollowed) {
  const Program& program = subject();
  Renaming renaming = no_renaming();
  const auto [one, another] = single_registers(program);
  std::swap(renaming[one], renaming[another]);
  Program other = program;
  for (std::size_t at = 0; at < other.code.size(); ++at) {
    replace(other, at, renamed(program.code[at], program.sm, renaming));
  }
  EXPECT_FALSE(prove_equal(program, other).is_proved);
  EXPECT_TRUE(prove_equal(program, other, renaming).is_proved)
      << prove_equal(program, other, renaming).reason;
  renaming[one] = one;
  EXPECT_THROW(prove_equal(program, other, renaming), std::invalid_argument);
}

Program program_of_row(std::vector<Instruction> code) {
  CubinKernel kernel;
  kernel.name = "row";
  kernel.code = std::move(code);
  kernel.code.push_back({0x000000000000794d, 0x000fea0003800000});  // EXIT
  return program_of(kernel, 90);
}

Equality equality_of(std::vector<Instruction> before, std::vector<Instruction> after) {
  return prove_equal(program_of_row(std::move(before)), program_of_row(std::move(after)));
}

// Where its guard is false, what was there before stays.
TEST(Values, AGuardedWriteKeepsTheOldValue) {
  const auto with_old = [](std::uint32_t old) {
    return std::vector<Instruction>{mov_immediate(5, old), guarded(mov_immediate(5, 9), 0),
                                    sts(32, 8, 0, 5)};
  };
  EXPECT_TRUE(equality_of(with_old(1), with_old(1)).is_proved);
  EXPECT_FALSE(equality_of(with_old(1), with_old(2)).is_proved);
}

// A product of 64 bits is two registers, and each of them is a value of its own.
TEST(Values, ResultsOfOneInstructionAreNotTheSame) {
  constexpr Instruction kImadWide = {0x0000000804047825, 0x004fe200078e02ff};  // R4, R4, 0x8, RZ
  BlockRenaming same;
  for (int reg = 0; reg < 255; ++reg) same.emplace_back(reg, reg);
  const auto with_half = [&](int reg) { return program_of_row({kImadWide, mov(8, reg)}); };
  const std::vector<BlockRenaming> own_names(with_half(4).blocks.size(), same);
  EXPECT_TRUE(prove_equal(with_half(4), with_half(4), own_names).is_proved);
  const Instruction store = sts(32, 2, 0, 8);
  const auto stored = [&](int reg) { return program_of_row({kImadWide, mov(8, reg), store}); };
  EXPECT_FALSE(prove_equal(stored(4), stored(5), own_names).is_proved);
}

// Even where both hold the same.
TEST(Values, TwoValuesInOneRegisterAreRefused) {
  constexpr Instruction kOverTheNext = {0x0000000000041947, 0x000fea0003800000};  // @P1 BRA
  const auto reading = [&](int reg) {
    return program_of_row({mov_immediate(4, 1), mov_immediate(5, 1), kOverTheNext, mov(8, reg)});
  };
  const Program program = reading(5);
  std::vector<BlockRenaming> renaming(program.blocks.size());
  renaming[1] = {{5, 5}};
  EXPECT_TRUE(prove_equal(program, program, renaming).is_proved);
  renaming[1] = {{4, 4}, {5, 4}};
  const Equality equality = prove_equal(program, reading(4), renaming);
  EXPECT_FALSE(equality.is_proved);
  EXPECT_NE(equality.reason.find("gives R4 to two values"), std::string::npos) << equality.reason;
}

// The same load before and after a store: which of the two R1 keeps matters.
TEST(Values, ALoadIsNotTheSameAfterAStore) {
  const Instruction load = lds(32, 0, 8, 0), store = sts(32, 8, 0, 4), keep = mov(1, 0);
  EXPECT_TRUE(equality_of({load, keep, store, load}, {load, keep, store, load}).is_proved);
  EXPECT_FALSE(equality_of({load, keep, store, load}, {load, store, load, keep}).is_proved);
}

// A block without a branch at its end, so that nothing else comes after the store.
TEST(Values, AMissingEffectIsRefused) {
  constexpr Instruction kOverTheNext = {0x0000000000041947, 0x000fea0003800000};  // @P1 BRA
  const Instruction store = sts(32, 8, 0, 4), nothing = mov(kZeroRegister, 4);
  EXPECT_EQ(equality_of({kOverTheNext, store}, {kOverTheNext, nothing}).reason,
            "the versions differ in their number of effects.");
}

TEST(Values, ARegisterThatOnlyOneVersionWritesIsSeen) {
  const Instruction nothing = mov(kZeroRegister, 4), write = mov(5, 4);
  EXPECT_FALSE(equality_of({nothing}, {write}).is_proved);
  EXPECT_FALSE(equality_of({write}, {nothing}).is_proved);
}

TEST(Values, AnUnknownInstructionKeepsItsUpperHalf) {
  const Instruction unknown = {0x0000000000007fff, 0x000fea0000000000};
  const Instruction other = {unknown.low, unknown.high + 1};
  EXPECT_TRUE(equality_of({unknown}, {unknown}).is_proved);
  EXPECT_FALSE(equality_of({unknown}, {other}).is_proved);
}

TEST(Values, AnotherBranchIsRefused) {
  Program other = subject();
  other.blocks[1].next.clear();
  EXPECT_FALSE(prove_equal(subject(), other).is_proved);
  other = subject();
  other.code.pop_back();
  EXPECT_EQ(prove_equal(subject(), other).reason, "the versions differ in length.");
}

}  // namespace
}  // namespace tessera::sass
