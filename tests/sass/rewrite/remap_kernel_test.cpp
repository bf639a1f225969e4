// Registers by live ranges: what the renaming gains, that it is proved, and that planted mistakes
// are not.
#include "sass/rewrite/remap_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "sass/model/hazards.h"
#include "sass/model/live_ranges.h"
#include "sass/model/register_fields.h"
#include "sass/rewrite/encode.h"
#include "sass/rewrite/patch.h"
#include "sass/rewrite/register_limits.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

struct Entry {
  CubinKernel kernel;
  Program program;
};

Entry entry_named(std::string_view part) {
  for (const CodeImage* image : images_of_catalog()) {
    if (image->ptx.view().find(part) == std::string_view::npos) continue;
    const CubinFile cubin = read_cubin(image->cubin);
    for (const CubinKernel& kernel : cubin.kernels) {
      if (kernel.name.find(part) != std::string::npos)
        return {kernel, program_of(kernel, cubin.sm)};
    }
  }
  throw std::runtime_error("no such kernel");
}

Program with_code_of(const Entry& entry, const std::vector<Instruction>& code) {
  CubinKernel changed = entry.kernel;
  changed.code = code;
  return program_of(changed, entry.program.sm);
}

// What two FFMAs in a row leave: R4 holds two values, one after the other.
Program straight(std::vector<Instruction> code) {
  CubinKernel kernel;
  kernel.name = "straight";
  kernel.code = std::move(code);
  return program_of(kernel, 90);
}

Instruction exit_here() { return {0x000000000000794d, 0x000fea0003800000}; }

TEST(LiveRanges, ARegisterHoldsOneValueAfterTheOther) {
  const Program program = straight({mov_immediate(4, 1), ffma(5, 4, 4, 4), mov_immediate(4, 2),
                                    ffma(6, 4, 5, 4), sts(32, 6, 0, 6), exit_here()});
  const LiveRanges live = live_ranges_of(program);
  EXPECT_EQ(live.ranges.size(), 4u);  // two of R4, R5, R6
  EXPECT_NE(live.written_at(0, 4), live.written_at(2, 4));
  EXPECT_EQ(live.written_at(0, 4), live.read_at(1, 4));
  EXPECT_EQ(live.written_at(2, 4), live.read_at(3, 4));
  const auto& first = live.ranges[static_cast<std::size_t>(live.written_at(0, 4))];
  const auto& second = live.ranges[static_cast<std::size_t>(live.written_at(2, 4))];
  EXPECT_FALSE(first.meets(second));
  EXPECT_TRUE(second.meets(live.ranges[static_cast<std::size_t>(live.written_at(1, 5))]));
}

// A write that its guard may leave out keeps what was there.
TEST(LiveRanges, AGuardedWriteContinuesTheRange) {
  const Program program = straight(
      {mov_immediate(4, 1), guarded(mov_immediate(4, 2), 0), sts(32, 4, 0, 4), exit_here()});
  const LiveRanges live = live_ranges_of(program);
  EXPECT_EQ(live.written_at(0, 4), live.written_at(1, 4));
}

TEST(RegisterFields, AreThoseThatTheDecoderReads) {
  const auto fields = register_fields(ffma(1, 2, 3, 4), 90);
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].writes.size(), 1u);
  EXPECT_EQ(register_fields(ffma_immediate(1, 2, 3.0F, 4), 90).size(), 3u);
  EXPECT_EQ(register_fields(mov(1, kZeroRegister), 90).size(), 1u);
}

class Remapped : public testing::TestWithParam<const char*> {};

TEST_P(Remapped, IsProvedWithoutHazardsAndCheaper) {
  const Entry entry = entry_named(GetParam());
  const RemappedKernel found = remap(entry.program, entry.kernel.loops, {.steps = 100'000});
  ASSERT_FALSE(found.code.empty());
  const Program after = with_code_of(entry, found.code);
  const Equality equality = prove_equal(entry.program, after, found.renaming);
  EXPECT_TRUE(equality.is_proved) << equality.reason;
  EXPECT_GT(equality.effects, 50u);
  EXPECT_TRUE(find_hazards(after).empty());
  // Nothing but the numbers of general registers is another.
  for (std::size_t at = 0; at < after.code.size(); ++at) {
    Instruction one = entry.program.code[at], other = after.code[at];
    for (const RegisterField& field : register_fields(one, 90)) {
      one = with_register(one, field.first, 0);
      other = with_register(other, field.first, 0);
    }
    ASSERT_TRUE(one.low == other.low && one.high == other.high)
        << entry.program.operations[at].text;
  }
}

INSTANTIATE_TEST_SUITE_P(Rungs, Remapped,
                         testing::Values("rung_08_tile_4x4__64x64x16_am_bk",
                                         "rung_09_tile_8x8__128x128x8_ak_bn",
                                         "rung_12_warp_tile__128x128x8_am_bk",
                                         "rung_12_warp_tile__128x128x8_am_bn"));

// What the first remapped rung 12 was: its last stores, behind a barrier that had moved through a
// register, kept their registers, and an H200 left elements of D unwritten.
TEST(Remap, IsNotProvedWhereItsEndKeepsTheOldRegisters) {
  const Entry entry = entry_named("rung_12_warp_tile__128x128x8_am_bn");
  const auto& operations = entry.program.operations;
  std::size_t end = operations.size();
  while (end > 0 && operations[end - 1].name != "WARPSYNC") --end;
  ASSERT_EQ(operations[end - 2].text, "BSYNC B10");
  bool is_renamed = false;
  for (unsigned seed = 1; seed <= 8 && !is_renamed; ++seed) {
    const RemappedKernel found =
        remap(entry.program, entry.kernel.loops, {.steps = 50'000, .seed = seed});
    ASSERT_FALSE(found.code.empty());
    std::vector<Instruction> code = found.code;
    for (std::size_t at = end; at < code.size(); ++at) {
      is_renamed = is_renamed || code[at].low != entry.program.code[at].low;
      code[at] = entry.program.code[at];
    }
    const Equality equality = prove_equal(entry.program, with_code_of(entry, code), found.renaming);
    EXPECT_EQ(equality.is_proved, !is_renamed) << equality.reason;
  }
  EXPECT_TRUE(is_renamed);
}

// Rung 15's producer gives its registers back: an instruction of it that names one of these is
// illegal, whatever value the proof finds there.
TEST(RegisterLimits, AreKeptWhereRegistersWereGivenBack) {
  const Entry entry = entry_named("rung_15_producer_warp__256x128x8_ak_bn");
  const std::vector<int> limits = register_limits(entry.program);
  const auto& operations = entry.program.operations;
  std::size_t given_back = 0;
  for (std::size_t at = 0; at < operations.size(); ++at) {
    if (operations[at].text.find("USETMAXREG.DEALLOC") != std::string::npos) given_back = at + 1;
  }
  ASSERT_GT(given_back, 0u);
  EXPECT_LE(limits[given_back], 40);
  EXPECT_GT(*std::ranges::max_element(limits), 200);
  const RemappedKernel found = remap(entry.program, entry.kernel.loops, {.steps = 50'000});
  ASSERT_FALSE(found.code.empty());
  EXPECT_EQ(beyond_limits(entry.program, with_code_of(entry, found.code)), "");
  int planted = 0;
  for (std::size_t at = given_back; at < given_back + 80; ++at) {
    for (const RegisterField& field : register_fields(entry.program.code[at], 90)) {
      std::vector<Instruction> code = entry.program.code;
      code[at] = with_register(code[at], field.first, 57);
      ++planted;
      EXPECT_NE(beyond_limits(entry.program, with_code_of(entry, code)), "") << operations[at].text;
    }
  }
  EXPECT_GE(planted, 5);
}

// One field of one instruction gets another register: the proof must notice, unless nothing reads
// what is written there.
TEST(RenamedValues, AWrongRegisterIsNotProved) {
  const Entry entry = entry_named("rung_08_tile_4x4__64x64x16_am_bk");
  const RemappedKernel found = remap(entry.program, entry.kernel.loops, {.steps = 20'000});
  ASSERT_FALSE(found.code.empty());
  const LiveRanges live = live_ranges_of(entry.program);
  int planted = 0, noticed = 0;
  for (std::size_t at = 0; at < found.code.size(); at += 3) {
    for (const RegisterField& field : register_fields(found.code[at], 90)) {
      std::vector<Instruction> code = found.code;
      const auto reg = static_cast<int>(code[at].bits(field.first, 8));
      code[at] = with_register(code[at], field.first, reg ^ 4);
      const bool is_reached = !live.reads[at].empty() || !live.writes[at].empty();
      if (!is_reached) continue;
      ++planted;
      const Equality equality =
          prove_equal(entry.program, with_code_of(entry, code), found.renaming);
      if (!equality.is_proved) {
        ++noticed;
        continue;
      }
      // A result that nothing needs may lie anywhere that is free.
      EXPECT_TRUE(field.reads.empty()) << entry.program.operations[at].text;
    }
  }
  std::printf("%d of %d wrong registers noticed\n", noticed, planted);
  EXPECT_GT(planted, 300);
  EXPECT_GT(noticed, planted * 9 / 10);
}

TEST(RenamedValues, AWrongRenamingIsNotProved) {
  const Entry entry = entry_named("rung_08_tile_4x4__64x64x16_am_bk");
  RemappedKernel found = remap(entry.program, entry.kernel.loops, {.steps = 20'000});
  ASSERT_FALSE(found.code.empty());
  const Program after = with_code_of(entry, found.code);
  ASSERT_TRUE(prove_equal(entry.program, after, found.renaming).is_proved);
  int refused = 0, tried = 0;
  for (BlockRenaming& block : found.renaming) {
    if (block.size() < 2) continue;
    std::swap(block[0].second, block[1].second);
    refused += prove_equal(entry.program, after, found.renaming).is_proved ? 0 : 1;
    ++tried;
    std::swap(block[0].second, block[1].second);
  }
  EXPECT_GT(tried, 3);
  EXPECT_EQ(refused, tried);
  found.renaming.pop_back();
  EXPECT_FALSE(prove_equal(entry.program, after, found.renaming).is_proved);
}

// R0, R2 and R6 are of one bank. In R5 or R7 the middle one would cost less, but where STS may
// still have to read it, IMAD.WIDE writes R4 and R5: R7 is left.
TEST(Remap, AvoidsTheSecondRegisterOfAPair) {
  constexpr Instruction kImadWide = {0x0000000804047825, 0x004fe200078e02ff};  // R4, R4, 0x8, RZ
  const std::vector<Instruction> code = {
      with_control(mov_immediate(7, 3), {.stall = 6}),
      with_control(sts(32, 8, 0, 7), {.stall = 4, .read_scoreboard = 1}),
      with_control(mov_immediate(2, 1), {.stall = 6, .wait_mask = 1 << 1}),
      with_control(ffma(0, 2, 6, 0), {.stall = 6}),
      with_control(sts(32, 8, 4, 2), {.stall = 4, .read_scoreboard = 1}),
      with_control(with_register(kImadWide, 24, 10), {.stall = 8, .yields = true}),
      with_control(fadd(14, 4, 5), {.stall = 6, .wait_mask = 1 << 2}),
      with_control(sts(32, 8, 8, 14), {.stall = 4, .read_scoreboard = 2}),
      guarded(bra(8 * 16, 2 * 16), 1),
      exit_here()};
  const Program program = straight(code);
  ASSERT_TRUE(find_hazards(program).empty());
  const Loop loop = {
      .begin = 2 * 16, .end = 9 * 16, .histogram = {{"FFMA", 1}}, .members = {2, 3, 4, 5, 6, 7, 8}};
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const RemappedKernel found = remap(program, {loop}, {.steps = 1000, .seed = seed});
    ASSERT_EQ(found.moved, 1u) << seed;
    EXPECT_EQ(straight(found.code).operations[3].text, "FFMA R0, R7, R6, R0");
  }
}

TEST(Remap, AndReorderTogetherAreBetterThanEither) {
  const CodeImage* image = nullptr;
  for (const CodeImage* one : images_of_catalog()) {
    if (one->name.starts_with("08_tile_4x4")) image = one;
  }
  ASSERT_NE(image, nullptr);
  const auto cycles = [&](bool remaps, bool reorders) {
    PatchOptions options;
    options.kernel = "rung_08_tile_4x4__64x64x16_am_bk";
    options.remaps = remaps;
    options.reorders = reorders;
    const PatchResult result = optimise(image->cubin, options);
    EXPECT_EQ(result.kernels.front().renamed > 0, remaps);
    EXPECT_TRUE(result.kernels.front().equality.is_proved);
    return result.kernels.front().loops.front().after.cycles;
  };
  const double both = cycles(true, true);
  EXPECT_LE(both, cycles(false, true));
  EXPECT_LE(both, cycles(true, false));
}

}  // namespace
}  // namespace tessera::sass
