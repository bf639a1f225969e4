// The hazard checker: silent on whatever ptxas writes, and on hand-broken code not.
#include "sass/model/hazards.h"

#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "sass/model/latencies.h"
#include "sass/model/values.h"
#include "sass/rewrite/encode.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

TEST(Hazards, NoneInWhatPtxasWrites) {
  std::size_t instructions = 0;
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile cubin = read_cubin(image->cubin);
    for (const CubinKernel& entry : cubin.kernels) {
      const Program program = program_of(entry, cubin.sm);
      instructions += program.code.size();
      for (const Hazard& hazard : find_hazards(program)) {
        ADD_FAILURE() << text_of(program, hazard) << "\nIf ptxas is newer than "
                      << latencies_of(program.sm).source
                      << ", or the kernel is, run tools/calibrate/mine_corpus.";
      }
    }
  }
  std::cout << instructions << " instructions without a hazard\n";
}

// Small mistakes planted one at a time. A mutant that computes the same in the same time cannot be
// told from the original: those are counted as equivalent, and why they are is said here.
struct Mutants {
  int planted = 0, found = 0;
  std::vector<std::string> survivors;

  void plant(const Program& mutant, std::size_t at, const std::string& what) {
    ++planted;
    if (!find_hazards(mutant).empty()) {
      ++found;
    } else {
      survivors.push_back(what + ": " + mutant.operations[at].text);
    }
  }
  void print(const char* kind) const {
    std::cout << kind << ": " << found << " of " << planted << " found\n";
  }
};

const Program& subject() {
  static const Program program = program_named("rung_11_double_buffer__128x128x8_am_bn");
  return program;
}

bool names(const std::vector<RegisterUse>& uses, const RegisterUse& wanted) {
  for (const RegisterUse& use : uses) {
    if (use.file == wanted.file && use.first < wanted.first + wanted.count &&
        wanted.first < use.first + use.count) {
      return true;
    }
  }
  return false;
}

// The next instruction of the block that reads what `at` writes; 0 if there is none, or if another
// write comes first.
std::size_t reader_of(const Program& program, std::size_t at) {
  if (program.operations[at].writes.empty()) return 0;
  const RegisterUse result = program.operations[at].writes[0];
  for (std::size_t i = at + 1; i < program.blocks[program.block_of[at]].end; ++i) {
    if (names(program.operations[i].reads, result)) return i;
    if (names(program.operations[i].writes, result)) return 0;
  }
  return 0;
}

int cycles_between(const Program& program, std::size_t first, std::size_t second) {
  int cycles = 0;
  for (std::size_t i = first; i < second; ++i) {
    cycles += std::max(1, program.operations[i].control.stall);
  }
  return cycles;
}

// DEPBAR.LE SB0, count: waits for all but the last `count` that set scoreboard 0.
Instruction depbar(std::uint64_t count) {
  Instruction made = nop();
  made.low = (made.low & ~std::uint64_t{0xfff}) | 0x91a | count << 38 | std::uint64_t{1} << 47;
  return with_control(made, {.stall = 4, .yields = true});
}

// Three loads that set one scoreboard, a wait for all but the last `count`, and a sum that reads
// one of the results.
std::vector<Hazard> hazards_after_counted_wait(int count, int read, bool other_queue = false) {
  CubinKernel kernel;
  kernel.name = "counted";
  const auto loaded = [](Instruction load) {
    return with_control(load, {.stall = 2, .write_scoreboard = 0});
  };
  for (int i = 0; i < 3; ++i) {
    kernel.code.push_back(loaded(i == 2 && other_queue ? ldc(2, 0x210) : lds(32, i, 8, 4 * i)));
  }
  kernel.code.push_back(depbar(static_cast<std::uint64_t>(count)));
  kernel.code.push_back(with_control(fadd(16, read, read), {.stall = 5}));
  Instruction exit = nop();
  exit.low = (exit.low & ~std::uint64_t{0xfff}) | 0x94d;
  exit.high |= std::uint64_t{7} << (87 - 64);
  kernel.code.push_back(with_control(exit, {.stall = 5, .yields = true}));
  return find_hazards(program_of(kernel, 90));
}

TEST(Hazards, CountedWaitsLeaveTheLastOnesOpen) {
  EXPECT_TRUE(hazards_after_counted_wait(0, 2).empty());
  EXPECT_TRUE(hazards_after_counted_wait(1, 0).empty());
  EXPECT_TRUE(hazards_after_counted_wait(1, 1).empty());
  EXPECT_FALSE(hazards_after_counted_wait(1, 2).empty());
  EXPECT_TRUE(hazards_after_counted_wait(2, 0).empty());
  EXPECT_FALSE(hazards_after_counted_wait(2, 1).empty());
  EXPECT_FALSE(hazards_after_counted_wait(3, 0).empty());
}

// A load of another queue may be done first, so it does not count for the others.
TEST(Hazards, CountedWaitsCountOneQueueOnly) {
  EXPECT_TRUE(hazards_after_counted_wait(1, 0, true).empty());
  EXPECT_FALSE(hazards_after_counted_wait(1, 1, true).empty());
}

// A load under P0 and a sum under !P0 that reads its result without a wait; between them, perhaps,
// a branch under P1, behind which another block begins.
std::vector<Hazard> hazards_of_exclusive_guards(bool in_one_block) {
  const auto guarded = [](Instruction instruction, std::uint64_t guard) {
    instruction.low = (instruction.low & ~std::uint64_t{0xf000}) | guard << 12;
    return instruction;
  };
  constexpr std::uint64_t kP0 = 0, kNotP0 = 8;
  Instruction exit = nop();
  exit.low = (exit.low & ~std::uint64_t{0xfff}) | 0x94d;
  exit.high |= std::uint64_t{7} << (87 - 64);
  exit = with_control(exit, {.stall = 5, .yields = true});
  CubinKernel kernel;
  kernel.name = "guarded";
  kernel.code.push_back(
      guarded(with_control(lds(32, 0, 8, 0), {.stall = 2, .write_scoreboard = 0}), kP0));
  constexpr Instruction kOverTheNext = {0x0000000000041947, 0x000fea0003800000};  // @P1 BRA
  if (!in_one_block) kernel.code.push_back(kOverTheNext);
  kernel.code.push_back(guarded(with_control(fadd(16, 0, 0), {.stall = 5}), kNotP0));
  kernel.code.push_back(exit);
  return find_hazards(program_of(kernel, 90));
}

TEST(Hazards, GuardsExcludeEachOtherWithinABlockOnly) {
  EXPECT_TRUE(hazards_of_exclusive_guards(true).empty());
  EXPECT_FALSE(hazards_of_exclusive_guards(false).empty()) << "who knows what P0 is by then";
}

TEST(Latencies, ComeFromTheArchitectureOrTheOneBefore) {
  EXPECT_EQ(latencies_of(90).sm, 90);
  EXPECT_EQ(latencies_of(120).sm, 90);
  EXPECT_EQ(latencies_of(87).sm, 86);
  EXPECT_EQ(latencies_of(70).sm, 75);
  for (const int sm : {75, 80, 86, 89, 90}) {
    EXPECT_FALSE(latencies_of(sm).rows.empty()) << sm;
    EXPECT_EQ(distances_of(sm).least(DependenceKind::kReadAfterWrite, RegisterFile::kGeneral,
                                     LatencyClass::kFma, LatencyClass::kFma),
              4)
        << sm;
  }
}

// Where an FFMA is read as soon as ptxas ever allows, each stall on the way counts.
TEST(Hazards, EveryLoweredStallIsFound) {
  const Program& program = subject();
  Mutants mutants;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const Operation& first = program.operations[at];
    const std::size_t reader = reader_of(program, at);
    if (reader == 0 || first.timing != Timing::kFixed || first.writes.size() != 1) continue;
    const RegisterDependence dependence{
        DependenceKind::kReadAfterWrite, at, reader, first.writes[0].file, 0, 0};
    const int least = distances_of(program.sm)
                          .least(dependence.kind, dependence.file, class_of_first(first),
                                 class_of_second(program.operations[reader], dependence));
    if (first.writes[0].file != RegisterFile::kGeneral || first.writes[0].count != 1 ||
        cycles_between(program, at, reader) != least) {
      continue;
    }
    for (std::size_t i = at; i < reader; ++i) {
      Control control = program.operations[i].control;
      if (control.stall < 2) continue;
      --control.stall;
      mutants.plant(with_control_at(program, i, control), i, "stall");
      break;
    }
  }
  mutants.print("lowered stalls");
  EXPECT_GT(mutants.planted, 20);
  for (const std::string& survivor : mutants.survivors) ADD_FAILURE() << survivor;
}

TEST(Hazards, DroppedWaitsAreFound) {
  const Program& program = subject();
  Mutants mutants;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    for (unsigned scoreboard = 0; scoreboard < 6; ++scoreboard) {
      Control control = program.operations[at].control;
      if ((control.wait_mask >> scoreboard & 1) == 0) continue;
      control.wait_mask &= ~(1u << scoreboard);
      mutants.plant(with_control_at(program, at, control), at,
                    "wait for " + std::to_string(scoreboard));
    }
  }
  mutants.print("dropped waits");
  // Equivalent ones: branches wait on behalf of both ways and one way does not need it; joins of
  // ways wait again for what one of them has waited for.
  for (const std::string& survivor : mutants.survivors) std::cout << "  " << survivor << "\n";
  EXPECT_GT(mutants.planted, 50);
  EXPECT_GE(mutants.found * 100, mutants.planted * 85);
}

TEST(Hazards, DroppedScoreboardsAreFound) {
  const Program& program = subject();
  Mutants mutants;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    Control control = program.operations[at].control;
    if (control.write_scoreboard < 0) continue;
    control.write_scoreboard = -1;
    mutants.plant(with_control_at(program, at, control), at, "scoreboard");
  }
  mutants.print("dropped write scoreboards");
  // Equivalent ones: queues work in order, and a later load of the same queue is waited for.
  for (const std::string& survivor : mutants.survivors) std::cout << "  " << survivor << "\n";
  EXPECT_GT(mutants.planted, 50);
  EXPECT_GE(mutants.found * 100, mutants.planted * 85);
}

// Keeps an operand that is written before its slot is read again.
TEST(Hazards, EveryIllegalReuseIsFound) {
  const Program& program = subject();
  Mutants mutants;
  for (std::size_t at = 0; at + 1 < program.code.size(); ++at) {
    const Operation& operation = program.operations[at];
    if (operation.name != "FFMA" || operation.reads.size() != 3) continue;
    for (const RegisterUse& use : operation.reads) {
      const bool is_written = names(operation.writes, use);
      std::size_t next = at + 1;  // the next reader of the slot in the register's bank
      for (; next < program.blocks[program.block_of[at]].end; ++next) {
        bool reads_slot = false;
        for (const RegisterUse& other : program.operations[next].reads) {
          reads_slot |= other.file == use.file && other.operand == use.operand &&
                        other.first % 2 == use.first % 2;
        }
        if (reads_slot) break;
      }
      if (!is_written || next == program.blocks[program.block_of[at]].end ||
          !names(program.operations[next].reads, use) || use.operand != 2) {
        continue;
      }
      Control control = operation.control;
      control.reuse |= 1u << use.operand;
      if (control.yields || control.stall > 11) continue;
      const Operation& reader = program.operations[next];
      if (reader.timing != Timing::kFixed) continue;
      mutants.plant(with_control_at(program, at, control), at, "reuse");
    }
    Control control = operation.control;
    control.yields = false;
    if (control.stall > 11 || control.stall < 1) continue;
    Instruction both = with_control(program.code[at], control);
    both.high = (both.high | std::uint64_t{1} << (122 - 64)) & ~(std::uint64_t{1} << (109 - 64));
    Program mutant = program;
    replace(mutant, at, both);
    if (at % 16 == 0) mutants.plant(mutant, at, "reuse under yield");
  }
  mutants.print("illegal reuse flags");
  EXPECT_GT(mutants.planted, 20);
  for (const std::string& survivor : mutants.survivors) ADD_FAILURE() << survivor;
}

// Timing may allow the wrong order; then the values differ.
TEST(Hazards, EveryExchangedDependentPairIsFound) {
  const Program& program = subject();
  int planted = 0, by_hazard = 0, by_value = 0;
  for (std::size_t at = 0; at + 1 < program.code.size(); ++at) {
    if (reader_of(program, at) != at + 1) continue;
    if (program.block_of[at] != program.block_of[at + 1]) continue;
    const Operation& second = program.operations[at + 1];
    if (second.timing == Timing::kControl) continue;
    const Program mutant = exchanged(program, at, at + 1);
    const bool hazard = !find_hazards(mutant).empty();
    const bool value = !prove_equal(program, mutant).is_proved;
    ++planted;
    by_hazard += hazard;
    by_value += value;
    EXPECT_TRUE(hazard || value) << program.operations[at].text << " and " << second.text;
  }
  std::cout << "exchanged pairs: " << planted << ", " << by_hazard << " are hazards, " << by_value
            << " change values\n";
  EXPECT_GT(planted, 20);
}

TEST(Hazards, TuplesStartWhereTheHardwareWantsThem) {
  Program program = subject();
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    if (program.operations[at].name != "LDS.128") continue;
    Instruction moved = program.code[at];
    moved.low += std::uint64_t{2} << 16;  // Rd + 2
    replace(program, at, moved);
    for (const Hazard& hazard : find_hazards(program)) {
      if (hazard.at == at && hazard.reason.find("tuple") != std::string::npos) return;
    }
    FAIL() << "not found";
  }
}

using Places = std::set<std::size_t>;

// The positions of the hazards in a sequence of instructions, for compute capability `sm`.
Places hazards_at(int sm, std::vector<Instruction> code) {
  CubinKernel kernel;
  kernel.name = "row";
  kernel.code = std::move(code);
  kernel.code.push_back({0x000000000000794d, 0x000fea0003800000});  // EXIT
  const Program program = program_of(kernel, sm);
  Places places;
  for (const Hazard& hazard : find_hazards(program)) places.insert(hazard.at);
  return places;
}

// Where a guard is false the load still writes R0; and so it does after a loop that it is in, which
// ends at its head.
TEST(Hazards, WhatIsOpenStaysOpen) {
  const Instruction load = with_control(lds(32, 0, 8, 0), {.stall = 2, .write_scoreboard = 0});
  const Instruction write = guarded(with_control(mov_immediate(0, 1), {.stall = 6}), 0);
  EXPECT_EQ(hazards_at(90, {load, write, fadd(16, 0, 0)}), (Places{1, 2}));
  const Places places = hazards_at(90, {guarded(bra(0, 48), 1), load, bra(32, 0), fadd(16, 0, 0)});
  EXPECT_TRUE(places.contains(3));
}

// What STS reads may be overwritten after BAR.SYNC on sm_75, and not after BAR.SYNC.DEFER_BLOCKING.
TEST(Hazards, ABarrierOfTuringWaitsForStores) {
  const Instruction store = sts(32, 6, 0, 4), write = mov_immediate(4, 1);
  const Instruction sync = {0x0000000000007b1d, 0x000fea0000000000};
  const Instruction deferred = {0x0000000000007b1d, 0x000fea0000010000};
  EXPECT_EQ(decode(sync, 0, 75).text, "BAR.SYNC 0x0");
  EXPECT_EQ(decode(deferred, 0, 80).text, "BAR.SYNC.DEFER_BLOCKING 0x0");
  EXPECT_EQ(hazards_at(75, {store, sync, write}), Places{});
  EXPECT_EQ(hazards_at(75, {store, nop(), write}), Places{2});
  EXPECT_EQ(hazards_at(80, {store, deferred, write}), Places{2});
}

// A later FLO, or DFMA, covers an earlier one without a scoreboard: they work in order.
TEST(Hazards, QueuesWorkInOrder) {
  const Instruction first = {0x0000000400047300, 0x000fe200000e0000};   // FLO.U32 R4, R4
  const Instruction second = {0x0000000600067300, 0x000e6200000e0000};  // FLO.U32 R6, R6
  const Instruction waits = with_control(mov(4, 255), {.stall = 5, .wait_mask = 2});
  EXPECT_EQ(decode(first, 0, 80).text, "FLO.U32 R4, R4");
  EXPECT_EQ(hazards_at(80, {first, second, nop(), waits}), Places{});
  EXPECT_EQ(hazards_at(80, {first, nop(), mov(4, 255)}), Places{2});
  EXPECT_EQ(hazards_at(80, {second, first, nop(), waits}), Places{3});
  const Instruction dfma = {0x0000001c5a58722b,
                            0x000e480000000030};  // DFMA R88, R90, R28, R48: SB1
  Instruction earlier = with_control(dfma, {.stall = 4, .yields = true});
  earlier.low = (earlier.low & ~std::uint64_t{0xFF0000}) | std::uint64_t{86} << 16;
  const Instruction reads = with_control(mov(4, 86), {.stall = 5, .wait_mask = 2});
  EXPECT_EQ(hazards_at(80, {earlier, dfma, reads}), Places{});
  EXPECT_EQ(hazards_at(80, {earlier, reads}), Places{1});
}

// A kernel begins with a load of R1 that nothing waits for: another value there might be lost. A
// later load does not cover it, since no compiled code counts on loads of constants in order.
TEST(Hazards, AConstantMayArriveAfterALaterOne) {
  const Instruction first = with_control(ldc(1, 0x28), {.stall = 1});
  const Instruction second = with_control(ldc(2, 0x210), {.stall = 2, .write_scoreboard = 0});
  const Instruction waits = with_control(mov(3, 2), {.stall = 5, .wait_mask = 1});
  EXPECT_EQ(hazards_at(90, {first, second, waits, mov(4, 3)}), Places{});
  EXPECT_EQ(hazards_at(90, {first, second, waits, mov(1, 3)}), Places{3});
}

TEST(Hazards, SentencesNamePlaceAndReason) {
  const Program& program = subject();
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    Control control = program.operations[at].control;
    if (program.operations[at].name != "FFMA" || control.wait_mask == 0) continue;
    control.wait_mask = 0;
    const Program mutant = with_control_at(program, at, control);
    const std::vector<Hazard> hazards = find_hazards(mutant);
    ASSERT_FALSE(hazards.empty());
    const std::string text = text_of(mutant, hazards[0]);
    EXPECT_NE(text.find("FFMA"), std::string::npos) << text;
    EXPECT_NE(text.find("may still be written by LDS.128 at 0x"), std::string::npos) << text;
    return;
  }
}

}  // namespace
}  // namespace tessera::sass
