// Where control may go. A way that is missed is a way on which nothing is checked and nothing
// proved, so an enemy here writes nested regions whose barriers move through registers and through
// other barriers, runs them as a thread does, and looks for steps that the program does not list.
#include "sass/model/flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>

#include "sass/model/hazards.h"
#include "sass/model/renamed_values.h"
#include "sass/rewrite/encode.h"

namespace tessera::sass {
namespace {

using Code = std::vector<Instruction>;

constexpr std::uint64_t kStall5 = 0x000fea0003800000;

Instruction exit_here() { return {0x000000000000794d, kStall5}; }

// Bytes as of ptxas: tests/sass/decode/data/confirmed.json.
Instruction bssy(int barrier, std::size_t at, std::size_t to) {
  const auto units = static_cast<std::uint64_t>(4 * static_cast<std::int64_t>(to - at - 1));
  return {0x7945 | static_cast<std::uint64_t>(barrier) << 16 | (units & 0x3FFFFFFF) << 34, kStall5};
}
Instruction bsync(int barrier) {
  return {0x7941 | static_cast<std::uint64_t>(barrier) << 16, kStall5};
}
// BMOV.32.CLEAR Rn, Bm
Instruction take(int reg, int barrier) {
  return {
      0x7355 | static_cast<std::uint64_t>(reg) << 16 | static_cast<std::uint64_t>(barrier) << 24,
      0x000e2a0000100000};
}
// BMOV.32 Bm, Rn after a wait for what take() signals
Instruction put(int barrier, int reg) {
  return {
      0x7356 | static_cast<std::uint64_t>(barrier) << 24 | static_cast<std::uint64_t>(reg) << 32,
      0x0011ea0000000000};
}
Instruction branch(std::size_t at, std::size_t to) {
  return bra(static_cast<std::int64_t>(at * kInstructionBytes),
             static_cast<std::int64_t>(to * kInstructionBytes));
}
Instruction call(std::size_t at, std::size_t to) {
  Instruction instruction = branch(at, to);
  instruction.low = (instruction.low & ~std::uint64_t{0xfff}) | 0x944;
  return instruction;
}
Instruction return_here() { return {0x7950 | std::uint64_t{20} << 24, kStall5}; }

Program program_of_code(Code code) {
  CubinKernel kernel;
  kernel.name = "flow";
  kernel.code = std::move(code);
  return program_of(kernel, 90);
}

bool goes(const Program& program, std::size_t from, std::size_t to) {
  const std::size_t block = program.block_of[from];
  if (program.blocks[block].end != from + 1) return to == from + 1;
  return std::ranges::any_of(program.blocks[block].next,
                             [&](std::size_t next) { return program.blocks[next].begin == to; });
}

TEST(Flow, TheBytesHereAreTheInstructionsMeant) {
  EXPECT_EQ(decode(bssy(11, 2, 20), 32, 90).text, "BSSY B11, 0x140");
  EXPECT_EQ(decode(bsync(10), 0, 90).text, "BSYNC B10");
  EXPECT_EQ(decode(take(28, 11), 0, 90).text, "BMOV.32.CLEAR R28, B11");
  EXPECT_EQ(decode(put(10, 28), 0, 90).text, "BMOV.32 B10, R28");
  EXPECT_EQ(decode(call(1, 5), 16, 90).name, "CALL");
  EXPECT_EQ(decode(return_here(), 0, 90).name, "RET");
}

// The end of rung 12: B11 is set, kept in R28, and met as B10, which was another region's before.
Code moved_barrier(const Instruction& behind) {
  return {bssy(10, 0, 3), nop(), bsync(10), bssy(11, 3, 9), take(28, 11), nop(),
          put(10, 28),    nop(), bsync(10), behind,         exit_here()};
}

TEST(Flow, ABarrierIsFollowedThroughARegisterIntoAnother) {
  const Program program = program_of_code(moved_barrier(nop()));
  EXPECT_TRUE(goes(program, 2, 3));
  EXPECT_TRUE(goes(program, 8, 9));
  EXPECT_FALSE(goes(program, 8, 3));
  EXPECT_EQ(unreached_code(program), program.code.size());
}

// A remapped rung 12 was "proved equal" and wrong on a GPU: nothing was known to lead behind such a
// BSYNC, so the code there was neither renamed nor looked at.
TEST(Flow, ARegisterThatKeepsItsOldNameBehindSuchABarrierIsNotProved) {
  const auto code_with = [](int stored, int behind) {
    Code code = moved_barrier(sts(32, 6, 0, behind));
    code[1] = mov_immediate(stored, 7);
    return program_of_code(code);
  };
  const Program before = code_with(4, 4);
  std::vector<BlockRenaming> renaming(before.blocks.size(), BlockRenaming{{4, 5}, {6, 6}});
  renaming.front() = {{6, 6}};
  const Equality right = prove_equal(before, code_with(5, 5), renaming);
  EXPECT_TRUE(right.is_proved) << right.reason;
  EXPECT_FALSE(prove_equal(before, code_with(5, 4), renaming).is_proved);
}

TEST(Flow, WhatNothingLeadsToIsAHazardAndNotProved) {
  const Program program = program_of_code({nop(), exit_here(), sts(32, 6, 0, 4), exit_here()});
  EXPECT_EQ(unreached_code(program), 2u);
  const auto hazards = find_hazards(program);
  EXPECT_TRUE(std::ranges::any_of(hazards, [](const Hazard& hazard) {
    return hazard.at == 2 && hazard.reason.find("no way that is known") != std::string::npos;
  }));
  const std::vector<BlockRenaming> same(program.blocks.size());
  EXPECT_FALSE(prove_equal(program, program, same).is_proved);
  const Program padded = program_of_code({nop(), exit_here(), branch(2, 2), nop()});
  EXPECT_EQ(unreached_code(padded), padded.code.size());
}

TEST(Flow, AnUnknownWayIsRefused) {
  const Instruction brx = {0x0000000004007949, kStall5};
  EXPECT_EQ(decode(brx, 0, 90).name, "BRX");
  EXPECT_THROW(program_of_code({nop(), brx, exit_here()}), std::runtime_error);
  // No region was entered; only on one of two ways; its register was written since.
  EXPECT_THROW(program_of_code({nop(), bsync(3), exit_here()}), std::runtime_error);
  EXPECT_THROW(
      program_of_code({guarded(branch(0, 2), 0), bssy(3, 1, 4), nop(), bsync(3), exit_here()}),
      std::runtime_error);
  EXPECT_THROW(program_of_code({bssy(3, 0, 5), take(8, 3), mov_immediate(8, 1), put(3, 8), bsync(3),
                                exit_here()}),
               std::runtime_error);
  EXPECT_NO_THROW(program_of_code(
      {bssy(3, 0, 5), take(8, 3), mov_immediate(9, 1), put(3, 8), bsync(3), exit_here()}));
}

// Writes random regions. Distances are filled in at the end.
class Writer {
 public:
  explicit Writer(std::mt19937& random) : random_(random) {}

  Code run() {
    body(0);
    add(exit_here());
    if (!calls_.empty()) {
      for (const std::size_t at : calls_) targets_[at] = code_.size();
      const std::size_t saved = fresh();
      const int barrier = any_barrier();
      add(take(static_cast<int>(saved), barrier));
      region_around(barrier, 4);
      add(put(barrier, static_cast<int>(saved)));
      add(return_here());
    }
    add(branch(code_.size(), code_.size()));
    for (const auto& [at, to] : targets_) code_[at] = with_target(at, to);
    return std::move(code_);
  }

 private:
  static constexpr int kDeepest = 5;

  std::size_t add(const Instruction& instruction) {
    code_.push_back(instruction);
    return code_.size() - 1;
  }
  std::size_t fresh() { return next_register_++; }
  int any_barrier() {
    constexpr std::array kBarriers = {0, 1, 10, 11};
    return kBarriers[random_() % kBarriers.size()];
  }
  Instruction with_target(std::size_t at, std::size_t to) const {
    const Operation operation = decode(code_[at], 0, 90);
    if (operation.name == "BSSY") return bssy(static_cast<int>(code_[at].bits(16, 4)), at, to);
    if (operation.name == "CALL") return call(at, to);
    return code_[at].always_runs() ? branch(at, to) : guarded(branch(at, to), 0);
  }

  void body(int depth) {
    for (int left = 1 + static_cast<int>(random_() % 3); left > 0; --left) {
      const unsigned kind = random_() % 6;
      if (kind < 3 && depth < kDeepest) {
        region(depth);
      } else if (kind == 3 && depth < kDeepest) {
        const std::size_t back = code_.size();  // a loop
        body(depth + 1);
        targets_[add(guarded(branch(0, 1), 0))] = back;
      } else if (kind == 4 && depth < 4 && next_register_ < 200) {
        calls_.push_back(add(call(0, 1)));
      } else {
        add(nop());
      }
    }
  }

  // A barrier that an outer region may use is kept in a register meanwhile.
  void region(int depth) {
    if (next_register_ > 230) return;
    const int barrier = any_barrier();
    const auto outer = static_cast<int>(fresh());
    add(take(outer, barrier));
    region_around(barrier, depth);
    add(put(barrier, outer));
  }

  void region_around(int barrier, int depth) {
    const std::size_t entry = add(bssy(barrier, 0, 1));
    const bool moves = random_() % 2 == 0 && next_register_ < 220;
    const auto own = moves ? static_cast<int>(fresh()) : 0;
    if (moves) add(take(own, barrier));
    const std::size_t skip = add(guarded(branch(0, 1), 0));
    body(depth + 1);
    targets_[skip] = code_.size();
    const int met = moves ? any_barrier() : barrier;
    const auto other = moves ? static_cast<int>(fresh()) : 0;
    if (moves) add(take(other, met));
    if (moves) add(put(met, own));
    add(bsync(met));
    targets_[entry] = code_.size();
    if (moves) add(put(met, other));
  }

  std::mt19937& random_;
  Code code_;
  std::map<std::size_t, std::size_t> targets_;
  std::vector<std::size_t> calls_;
  std::size_t next_register_ = 24;
};

// One thread with random guards. Barriers hold where their threads meet.
class Thread {
 public:
  Thread(const Program& program, std::mt19937& random) : program_(program), random_(random) {}

  // The first step that the program does not list; nothing if it lists all.
  std::optional<std::pair<std::size_t, std::size_t>> run(int steps) {
    std::size_t at = 0;
    for (int step = 0; step < steps; ++step) {
      const std::optional<std::size_t> to = next(at);
      if (!to) return std::nullopt;
      const bool returns = program_.operations[at].name == "RET";
      if (!returns && !goes(program_, at, *to)) return std::pair{at, *to};
      at = *to;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::size_t> next(std::size_t at) {
    const Instruction& instruction = program_.code[at];
    const std::string& name = program_.operations[at].name;
    const auto low = [&](int first, int count) {
      return static_cast<std::size_t>(instruction.bits(first, count));
    };
    if (program_.is_guarded(at) && random_() % 2 == 0) return at + 1;
    if (name == "EXIT") return std::nullopt;
    if (name == "BRA" || name == "CALL") {
      Instruction as_branch = instruction;
      as_branch.low = (as_branch.low & ~std::uint64_t{0xfff}) | 0x947;
      if (name == "CALL") calls_.push_back(at + 1);
      return static_cast<std::size_t>(*branch_target(as_branch, at * kInstructionBytes, 90)) /
             kInstructionBytes;
    }
    if (name == "RET") {
      const std::size_t to = calls_.back();
      calls_.pop_back();
      return to;
    }
    if (name == "BSYNC") return barriers_.at(low(16, 4));
    if (name == "BSSY") barriers_[low(16, 4)] = at + 1 + low(34, 30) / 4;
    if (name == "BMOV" && low(0, 12) == 0x355) registers_[low(16, 8)] = barriers_[low(24, 4)];
    if (name == "BMOV" && low(0, 12) == 0x356) barriers_[low(24, 4)] = registers_[low(32, 8)];
    return at + 1;
  }

  const Program& program_;
  std::mt19937& random_;
  std::map<std::size_t, std::size_t> barriers_, registers_;
  std::vector<std::size_t> calls_;
};

TEST(FlowEnemy, NoThreadTakesAWayThatIsNotListed) {
  std::mt19937 random(12);
  int moved = 0, calls = 0;
  for (int i = 0; i < 300; ++i) {
    const Program program = program_of_code(Writer(random).run());
    ASSERT_EQ(unreached_code(program), program.code.size()) << i;
    for (const Operation& operation : program.operations) {
      moved += operation.name == "BMOV";
      calls += operation.name == "CALL";
    }
    for (int thread = 0; thread < 20; ++thread) {
      const auto missed = Thread(program, random).run(400);
      ASSERT_FALSE(missed) << i << ": " << missed->first << " to " << missed->second;
    }
  }
  EXPECT_GT(moved, 3000);
  EXPECT_GT(calls, 100);
}

}  // namespace
}  // namespace tessera::sass
