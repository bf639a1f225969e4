// Code that compilers write and to which the hazard checker objected once, as short rows of their
// instructions, each next to a row with a mistake.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sass/model/hazards.h"
#include "sass/rewrite/encode.h"

namespace tessera::sass {
namespace {

using Code = std::vector<Instruction>;
using Places = std::set<std::size_t>;

constexpr Instruction kExit = {0x000000000000794d, 0x000fea0003800000};

Program program_of_code(int sm, Code code) {
  CubinKernel kernel;
  kernel.name = "compiled";
  kernel.code = std::move(code);
  return program_of(kernel, sm);
}

Places hazards_at(int sm, Code code) {
  const Program program = program_of_code(sm, std::move(code));
  Places places;
  for (const Hazard& hazard : find_hazards(program)) places.insert(hazard.at);
  return places;
}

// CALL.REL.NOINC from the first instruction of a kernel.
Instruction call(std::int64_t to) {
  Instruction instruction = bra(0, to);
  instruction.low = (instruction.low & ~std::uint64_t{0xfff}) | 0x944;
  return with_control(instruction, {.stall = 5});
}
// RET.REL.NODEC R20 0x0, under a guard where `guard` is a predicate.
Instruction returns(std::uint64_t guard = 7) {
  return {0x0950 | guard << 12 | std::uint64_t{20} << 24, 0x000fea0003c3ffff};
}

// A subroutine that returns early for some threads goes on for the others.
TEST(CompiledCode, AGuardedReturnGoesOnToo) {
  const Instruction load = with_control(lds(32, 0, 8, 0), {.stall = 2, .write_scoreboard = 0});
  const Instruction read = with_control(fadd(16, 0, 0), {.stall = 5});
  const Instruction waits = with_control(fadd(16, 0, 0), {.stall = 5, .wait_mask = 1});
  EXPECT_EQ(decode(call(32), 0, 90).text, "CALL.REL.NOINC 0x20");
  EXPECT_EQ(decode(returns(0), 0, 90).text.substr(0, 7), "@P0 RET");
  const auto code = [&](const Instruction& last) {
    return Code{call(32), kExit, load, returns(0), last, returns()};
  };
  EXPECT_EQ(unreached_code(program_of_code(90, code(waits))), 6u);
  EXPECT_EQ(hazards_at(90, code(waits)), Places{});
  EXPECT_EQ(hazards_at(90, code(read)), Places{4});
}

// ATOM of sm_90 sets a scoreboard when its registers have been read; its predicate is there then.
TEST(CompiledCode, ThePredicateOfAnAtomicComesEarly) {
  constexpr Instruction kAtomic = {0x0000000802ff79a2, 0x0021e4000810e1c6};
  constexpr Instruction kExitUnderP0 = {0x000000000000094d, 0x001fea0003800000};
  EXPECT_EQ(decode(kAtomic, 0, 90).text, "ATOM.E.ADD.STRONG.GPU P0, RZ, desc[UR6][R2.64], R8");
  EXPECT_EQ(control_of(kAtomic).read_scoreboard, 0);
  EXPECT_EQ(hazards_at(90, {kAtomic, kExitUnderP0, kExit}), Places{});
  Instruction early = kExitUnderP0;
  early = with_control(early, {.stall = 5});
  EXPECT_EQ(hazards_at(90, {kAtomic, early, kExit}), Places{1});
}

// sm_75 adds a uniform register to one of 32 bits, which needs no partner.
TEST(CompiledCode, AnAddressOf32BitsIsOneRegister) {
  constexpr Instruction kLoad = {0x0000000411007981, 0x000ea800081f4900};
  const Operation load = decode(kLoad, 0, 75);
  EXPECT_EQ(load.text, "LDG.E.STRONG.GPU R0, [R17.U32+UR4]");
  ASSERT_EQ(load.reads.size(), 2u);
  EXPECT_EQ(load.reads[1].first, 17);
  EXPECT_EQ(load.reads[1].count, 1);
  EXPECT_EQ(hazards_at(75, {kLoad, kExit}), Places{});
  Instruction pair = kLoad;
  pair.high |= std::uint64_t{1} << (90 - 64);
  EXPECT_EQ(decode(pair, 0, 75).text, "LDG.E.STRONG.GPU R0, [R17.64+UR4]");
  EXPECT_EQ(hazards_at(75, {pair, kExit}), Places{0});
}

TEST(CompiledCode, RareFormsAreKnown) {
  const Operation space = decode({0x00000006ffff79aa, 0x000e24000c000500}, 0, 75);
  EXPECT_EQ(space.text, "QSPC.E.S P0, RZ, [UR6]");
  const Operation sleep = decode({0x000000420000735d, 0x000fea0003800000}, 0, 75);
  EXPECT_EQ(sleep.text, "NANOSLEEP R66");
  ASSERT_EQ(sleep.reads.size(), 1u);
  EXPECT_EQ(sleep.reads[0].first, 66);
}

// A later load may overwrite what an atomic reads: all memory instructions read in order. It may
// not overwrite what an atomic gives back.
TEST(CompiledCode, AnAtomicReadsBeforeALaterLoad) {
  constexpr Instruction kExchange = {0x000000ff0aff798a, 0x0041e4000c1ee1c4};
  constexpr Instruction kLoad = {0x000000040e0a7981, 0x000ea2000c1e1b00};
  EXPECT_EQ(decode(kExchange, 0, 80).text, "ATOM.E.EXCH.STRONG.GPU PT, RZ, [R10.64], RZ");
  EXPECT_EQ(decode(kLoad, 0, 80).text, "LDG.E.64 R10, [R14.64]");
  EXPECT_EQ(hazards_at(80, {kExchange, kLoad, kExit}), Places{});
  EXPECT_EQ(hazards_at(80, {kExchange, mov_immediate(10, 1), kExit}), Places{1});
  Instruction returns_old = kExchange;
  returns_old.low ^= std::uint64_t{0xff ^ 10} << 16;
  EXPECT_EQ(hazards_at(80, {returns_old, kLoad, kExit}), Places{1});
}

// SHFL.BFLY PT, Rd, Ra, 0x8, 0x1f
Instruction shuffle(int d, int a, const Control& control) {
  constexpr Instruction kShuffle = {0x0d001f0025007f89, 0x000fe200000e0000};
  Instruction made = kShuffle;
  made.low &= ~std::uint64_t{0xffff0000};
  made.low |= static_cast<std::uint64_t>(d) << 16 | static_cast<std::uint64_t>(a) << 24;
  return with_control(made, control);
}

// ptxas gives only the last of several shuffles a scoreboard. They end in order, so a wait for it
// covers the earlier ones: their results, and their sources.
TEST(CompiledCode, ALaterShuffleCoversEarlierOnes) {
  const Control silent = {.stall = 1}, tells = {.stall = 2, .write_scoreboard = 0};
  EXPECT_EQ(decode(shuffle(4, 5, silent), 0, 80).text, "SHFL.BFLY PT, R4, R5, 0x8, 0x1f");
  const Instruction waits = with_control(fadd(16, 6, 7), {.stall = 5, .wait_mask = 1});
  const Instruction reads = with_control(fadd(17, 4, 4), {.stall = 5});
  const Instruction writes = with_control(mov_immediate(5, 1), {.stall = 5});
  const Code covered = {shuffle(4, 5, silent), shuffle(6, 7, tells), waits, reads, writes, kExit};
  EXPECT_EQ(hazards_at(80, covered), Places{});
  const Code other = {lds(32, 4, 5, 0), shuffle(6, 7, tells), waits, reads, kExit};
  EXPECT_EQ(hazards_at(80, other), Places{3});
  const Code earlier = {shuffle(6, 7, tells), shuffle(4, 5, silent), waits, reads, writes, kExit};
  EXPECT_EQ(hazards_at(80, earlier), (Places{3, 4}));
}

// The same of MOVM, which transposes matrices, and of POPC and FLO, which share a unit.
TEST(CompiledCode, ALaterOneOfAUnitCoversEarlierOnes) {
  constexpr Instruction kMove = {0x000000001d0c723a, 0x000fe80000000000};   // R12 from R29
  constexpr Instruction kLast = {0x000000000f0f723a, 0x000e240000000000};   // R15 from R15: SB0
  constexpr Instruction kFind = {0x0000000400047300, 0x000fe200000e0000};   // FLO.U32 R4, R4
  constexpr Instruction kCount = {0x0000002d002d7309, 0x000e240000000000};  // POPC R45, R45: SB0
  EXPECT_EQ(decode(kMove, 0, 90).text, "MOVM.16.MT88 R12, R29");
  EXPECT_EQ(decode(kLast, 0, 90).text, "MOVM.16.MT88 R15, R15");
  EXPECT_EQ(decode(kCount, 0, 80).text, "POPC R45, R45");
  const auto reads = [](int reg, unsigned waits) {
    return with_control(fadd(16, reg, reg), {.stall = 5, .wait_mask = waits});
  };
  EXPECT_EQ(hazards_at(90, {kMove, kLast, reads(15, 1), reads(12, 0), kExit}), Places{});
  EXPECT_EQ(hazards_at(90, {kLast, kMove, reads(15, 1), reads(12, 0), kExit}), Places{3});
  EXPECT_EQ(hazards_at(80, {kFind, kCount, reads(45, 1), reads(4, 0), kExit}), Places{});
  EXPECT_EQ(hazards_at(80, {kFind, kLast, reads(15, 1), reads(4, 0), kExit}), Places{3});
}

// Cooperative groups meet at this barrier on all cards: it waits until stores have read.
TEST(CompiledCode, ABarrierThatIsNotDeferredWaitsForStores) {
  constexpr Instruction kBarrier = {0x0000000000007b1d, 0x000fec0000000000};
  constexpr Instruction kDeferred = {0x0000000000007b1d, 0x000fec0000010000};
  const Instruction store = sts(32, 6, 0, 4), write = mov_immediate(4, 1);
  for (const int sm : {75, 80, 86, 90}) {
    EXPECT_EQ(decode(kBarrier, 0, sm).text, "BAR.SYNC 0x0");
    EXPECT_EQ(hazards_at(sm, {store, kBarrier, write, kExit}), Places{}) << sm;
    EXPECT_EQ(hazards_at(sm, {store, nop(), write, kExit}), Places{2}) << sm;
  }
  EXPECT_EQ(hazards_at(90, {store, kDeferred, write, kExit}), Places{2});
}

// A load may write what an earlier one of its queue writes, and no one reads in between.
TEST(CompiledCode, ALaterLoadWritesLater) {
  const Instruction wide = with_control(lds(128, 8, 20, 0), {.stall = 2, .write_scoreboard = 0}),
                    later = with_control(lds(32, 10, 20, 4), {.stall = 2, .write_scoreboard = 1});
  EXPECT_EQ(hazards_at(75, {wide, later, kExit}), Places{});
  EXPECT_EQ(hazards_at(75, {wide, mov_immediate(10, 1), kExit}), Places{1});
}

// So does the one of __syncthreads_or().
TEST(CompiledCode, ABarrierThatReducesWaitsForStores) {
  constexpr Instruction kReduces = {0x0000000000007b1d, 0x000fea0004004800};
  constexpr Instruction kDeferred = {0x0000000000007b1d, 0x000fec0000014800};
  const Instruction store = sts(32, 6, 0, 4), write = mov_immediate(4, 1);
  EXPECT_EQ(decode(kReduces, 0, 75).text, "BAR.RED.OR 0x0, !P0");
  EXPECT_EQ(decode(kDeferred, 0, 90).text, "BAR.RED.OR.DEFER_BLOCKING 0x0, P0");
  EXPECT_EQ(hazards_at(75, {store, kReduces, write, kExit}), Places{});
  EXPECT_EQ(hazards_at(90, {store, kDeferred, write, kExit}), Places{2});
}

// A load that writes its own address: IMAD.WIDE R6, then LDG R6, [R6]. Our own kernels have this
// pair at 12 cycles or more, those of others at 6 (latency_rows/public_sm_80.cpp).
TEST(CompiledCode, DistancesOfPublicKernelsCount) {
  constexpr Instruction kAddress = {0x0000000409067825, 0x000fca00078e0206};
  constexpr Instruction kLoad = {0x0000000406067981, 0x000ea4000c1e1900};
  EXPECT_EQ(decode(kAddress, 0, 80).text, "IMAD.WIDE R6, R9, 0x4, R6");
  EXPECT_EQ(decode(kLoad, 0, 80).text, "LDG.E R6, [R6.64]");
  const auto code = [&](int stall) {
    return Code{with_control(kAddress, {.stall = stall}), kLoad, kExit};
  };
  for (const int sm : {80, 86, 89}) {
    EXPECT_EQ(hazards_at(sm, code(6)), Places{}) << sm;
    EXPECT_EQ(hazards_at(sm, code(4)), Places{1}) << sm;
  }
  const Program program = program_of_code(80, code(6));
  EXPECT_FALSE(find_hazards(program, Distances(latencies_of(80))).empty());
}

}  // namespace
}  // namespace tessera::sass
