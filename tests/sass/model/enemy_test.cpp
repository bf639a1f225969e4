// An enemy of the value proof: random programs from the decoder's own tables, in random orders. An
// order that keeps every dependence must be proved, one that breaks a single dependence must not.
// What a broken one changes is found out by running both on numbers, with an interpreter that knows
// nothing of the proof: each instruction is a hash of its bits and of what it reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "sass/assemble/usual_bits.h"
#include "sass/decode/decode.h"
#include "sass/model/register_fields.h"
#include "sass/model/values.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

constexpr int kSm = 90;
constexpr int kLength = 12;  // instructions of a program

// 10,000 of each kind; TESSERA_ENEMY_PROGRAMS says otherwise.
int programs() {
  const char* const wanted = std::getenv("TESSERA_ENEMY_PROGRAMS");
  return wanted ? std::atoi(wanted) : 10'000;
}

using Place = std::pair<RegisterFile, int>;
using Code = std::vector<Instruction>;

Instruction exit_here() { return {0x000000000000794d, 0x000fea0003800000}; }

// Keys of instructions that stay in their block.
std::vector<int> straight_keys() {
  std::vector<int> keys;
  for (const int key : all_keys()) {
    const Operation operation = decode(usual_bits(key, kSm), 0, kSm);
    if (is_usual(key, kSm) && operation.known && operation.timing != Timing::kControl) {
      keys.push_back(key);
    }
  }
  return keys;
}

Instruction with_bits(Instruction instruction, int first, int count, std::uint64_t value) {
  std::uint64_t& half = first < 64 ? instruction.low : instruction.high;
  const std::uint64_t mask = ((std::uint64_t{1} << count) - 1) << first % 64;
  half = (half & ~mask) | (value << first % 64 & mask);
  return instruction;
}

// Few registers, so that much depends on much. One in four instructions is guarded; most are
// arithmetic.
Instruction random_instruction(const std::vector<int>& keys, const std::vector<int>& pure,
                               std::mt19937& random) {
  constexpr int kRegisters = 12, kPredicates = 3;
  const std::vector<int>& from = random() % 3 != 0 ? pure : keys;
  Instruction made = usual_bits(from[random() % from.size()], kSm);
  const bool is_guarded = random() % 4 == 0;
  made = with_bits(made, 12, 4, is_guarded ? random() % kPredicates | (random() % 2) << 3 : 7);
  for (const int field : {16, 24, 32, 64}) {
    const Instruction other = with_bits(made, field, 8, random() % kRegisters & ~3U);
    const Instruction one = with_bits(made, field, 8, random() % kRegisters);
    const bool names = !register_fields(other, kSm).empty();
    const Operation operation = decode(other, 0, kSm);
    const bool has_tuple =
        std::ranges::any_of(operation.reads, [](const RegisterUse& use) { return use.count > 1; });
    if (names) made = has_tuple ? other : one;
  }
  for (const int place : {81, 87}) made = with_bits(made, place, 3, random() % 8);
  return with_control(made, {.stall = 1});
}

std::vector<Place> places_of(const std::vector<RegisterUse>& uses) {
  std::vector<Place> places;
  for (const RegisterUse& use : uses) {
    for (int i = 0; i < use.count; ++i) places.emplace_back(use.file, use.first + i);
  }
  return places;
}

bool share(const std::vector<Place>& a, const std::vector<Place>& b) {
  return std::ranges::any_of(a,
                             [&](Place place) { return std::ranges::find(b, place) != b.end(); });
}

// Whether the second must stay behind the first.
bool depend(const Operation& first, const Operation& second) {
  const auto reads = places_of(first.reads), writes = places_of(first.writes);
  const auto later_reads = places_of(second.reads), later_writes = places_of(second.writes);
  return share(writes, later_reads) || share(reads, later_writes) || share(writes, later_writes) ||
         (!is_pure(first) && !is_pure(second));
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15U;
  return a ^ a >> 29;
}

// What a program leaves in its registers, and what it did to everything else.
std::map<Place, std::uint64_t> left_by(const Code& code) {
  constexpr Place kWorld = {RegisterFile::kGeneral, 1000};
  std::map<Place, std::uint64_t> state;
  const auto read = [&](Place place) {
    const auto found = state.find(place);
    const auto name =
        static_cast<std::uint64_t>(static_cast<int>(place.first) * 4096 + place.second);
    return found == state.end() ? mixed(7, name) : found->second;
  };
  for (const Instruction& instruction : code) {
    const Operation operation = decode(instruction, 0, kSm);
    std::uint64_t value = mixed(instruction.low, instruction.high);
    for (const Place& place : places_of(operation.reads)) value = mixed(value, read(place));
    if (!is_pure(operation)) {
      value = mixed(value, read(kWorld));
      state[kWorld] = value;
    }
    std::uint64_t result = 0;
    for (const Place& place : places_of(operation.writes)) {
      const bool is_guarded = instruction.bits(12, 4) != 7;
      state[place] = mixed(mixed(value, ++result), is_guarded ? read(place) : 0);
    }
  }
  return state;
}

Program program_of_code(Code code) {
  CubinKernel kernel;
  kernel.name = "random";
  kernel.code = std::move(code);
  kernel.code.push_back(exit_here());
  return program_of(kernel, kSm);
}

class Enemy : public testing::Test {
 protected:
  Enemy() {
    for (const int key : keys_) {
      if (is_pure(decode(usual_bits(key, kSm), 0, kSm))) pure_.push_back(key);
    }
  }

  Code random_code() {
    Code code;
    // One in six repeats an earlier one: a load before and after a store, say.
    while (code.size() < kLength) {
      const bool repeats = !code.empty() && random_() % 6 == 0;
      code.push_back(repeats ? code[random_() % code.size()]
                             : random_instruction(keys_, pure_, random_));
    }
    return code;
  }
  // Neighbours that do not depend on each other change places, often.
  Code shuffled(Code code) {
    for (int i = 0; i < 8 * kLength; ++i) {
      const std::size_t at = random_() % (code.size() - 1);
      if (!depend(decode(code[at], 0, kSm), decode(code[at + 1], 0, kSm))) {
        std::swap(code[at], code[at + 1]);
      }
    }
    return code;
  }
  // Then two that do: this breaks one dependence, and no other. False if there are none.
  bool break_one(Code& code) {
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at + 1 < code.size(); ++at) {
      if (depend(decode(code[at], 0, kSm), decode(code[at + 1], 0, kSm))) places.push_back(at);
    }
    if (places.empty()) return false;
    const std::size_t at = places[random_() % places.size()];
    std::swap(code[at], code[at + 1]);
    return true;
  }

  std::mt19937 random_{15};
  std::vector<int> keys_ = straight_keys(), pure_;
};

TEST_F(Enemy, HasManyInstructionsToChooseFrom) {
  EXPECT_GT(keys_.size(), 120u);
  EXPECT_GT(pure_.size(), 40u);
}

TEST_F(Enemy, OrdersThatKeepEveryDependenceAreProved) {
  int moved = 0;
  for (int i = 0; i < programs(); ++i) {
    const Code code = random_code(), other = shuffled(code);
    ASSERT_EQ(left_by(code), left_by(other)) << "the enemy itself is wrong";
    const Equality equality = prove_equal(program_of_code(code), program_of_code(other));
    ASSERT_TRUE(equality.is_proved) << i << ": " << equality.reason;
    for (std::size_t at = 0; at < code.size(); ++at) moved += code[at].low != other[at].low;
  }
  EXPECT_GT(moved, 2 * programs());
}

TEST_F(Enemy, OrdersThatBreakOneDependenceAreRefused) {
  int refused = 0, harmless = 0;
  while (refused < programs()) {
    const Code code = random_code();
    Code other = shuffled(code);
    if (!break_one(other)) continue;
    const Equality equality = prove_equal(program_of_code(code), program_of_code(other));
    const bool is_same = left_by(code) == left_by(other);  // twice the same instruction, say
    ASSERT_EQ(equality.is_proved, is_same) << decode(other[0], 0, kSm).text;
    (is_same ? harmless : refused) += 1;
    ASSERT_LT(harmless, programs() / 2 + 10);
  }
  std::printf("%d refused; %d broken orders changed nothing, and were proved\n", refused, harmless);
}

}  // namespace
}  // namespace tessera::sass
