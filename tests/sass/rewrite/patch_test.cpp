// The patcher on kernels of the ladder: what it gains by the model, what it proves, what it
// refuses.
#include "sass/rewrite/patch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <set>
#include <stdexcept>

#include "sass/container/elf.h"
#include "sass/model/hazards.h"
#include "sass/model/symbols.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

constexpr const char* kEntry = "rung_11_double_buffer__128x128x8_am_bn";

std::span<const std::byte> image_with(std::string_view entry) {
  for (const CodeImage* image : images_of_catalog()) {
    if (image->ptx.view().find(entry) == std::string_view::npos) continue;
    if (read_cubin(image->cubin).find(entry)) return image->cubin;
  }
  throw std::runtime_error("no image has that entry");
}

const PatchResult& patched() {
  static const PatchResult result = optimise(image_with(kEntry), {.kernel = kEntry});
  return result;
}

TEST(Patch, LosesBubblesAndNothingElse) {
  ASSERT_EQ(patched().kernels.size(), 1u);
  const KernelPatch& kernel = patched().kernels[0];
  EXPECT_EQ(kernel.left_alone, "");
  EXPECT_GT(kernel.moved, 100u);
  ASSERT_FALSE(kernel.loops.empty());
  for (const LoopChange& loop : kernel.loops) {
    EXPECT_EQ(loop.before.ffmas, loop.after.ffmas);
    EXPECT_GT(loop.before.bubbles, 20);
    EXPECT_LT(loop.after.bubbles, loop.before.bubbles / 4);
    EXPECT_LT(loop.after.reads_per_ffma(), loop.before.reads_per_ffma());
  }
  EXPECT_TRUE(kernel.equality.is_proved);
}

TEST(Patch, OnlyTheKernelsCodeChanges) {
  const auto before = image_with(kEntry);
  const auto& after = patched().cubin;
  ASSERT_EQ(before.size(), after.size());
  const CubinFile file = read_cubin(before);
  const CubinKernel& kernel = *file.find(kEntry);
  const std::size_t begin = kernel.code_offset;
  const std::size_t end = begin + kernel.code.size() * kInstructionBytes;
  std::size_t differences = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    ++differences;
    EXPECT_TRUE(i >= begin && i < end) << i;
  }
  EXPECT_GT(differences, 0u);
}

// The same instructions as before, control fields apart.
TEST(Patch, NoInstructionComesOrGoes) {
  const auto bare = [](std::span<const std::byte> image) {
    std::multiset<std::pair<std::uint64_t, std::uint64_t>> code;
    const CubinFile file = read_cubin(image);
    for (const Instruction& instruction : file.find(kEntry)->code) {
      code.emplace(instruction.low, instruction.high & ((std::uint64_t{1} << (105 - 64)) - 1));
    }
    return code;
  };
  EXPECT_EQ(bare(image_with(kEntry)), bare(patched().cubin));
}

TEST(Patch, FewerFfmasAreCrowded) {
  for (const LoopChange& loop : patched().kernels[0].loops) {
    EXPECT_GT(loop.before.crowded, 80);
    EXPECT_LT(loop.after.crowded, loop.before.crowded * 0.6);
  }
}

// FFMAs that yield among those that may move.
std::size_t yields_in(std::span<const std::byte> cubin) {
  const CubinFile file = read_cubin(cubin);
  const Program program = program_of(*file.find(kEntry), file.sm);
  std::size_t yields = 0;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    yields += may_move(program, at) && program.operations[at].control.yields;
  }
  return yields;
}

TEST(Patch, YieldsAreMadeOnlyWhereTheyAreAskedFor) {
  const std::size_t none = yields_in(patched().cubin);
  EXPECT_LE(none, yields_in(image_with(kEntry)));
  PatchOptions options{.kernel = kEntry};
  options.reorder.beam = 8;
  options.reorder.stalls_yield = true;
  const std::size_t stalls = yields_in(optimise(image_with(kEntry), options).cubin);
  EXPECT_GE(stalls, none);
  options.reorder.yield_every = 16;
  const std::size_t ffmas = 1024;
  EXPECT_GT(yields_in(optimise(image_with(kEntry), options).cubin), stalls + ffmas / 32);
}

// A wait belongs to its place: another FFMA may stand there, and wait in its stead.
TEST(Patch, WaitsStayWhereTheyWere) {
  const CubinFile before = read_cubin(image_with(kEntry));
  const CubinFile after = read_cubin(patched().cubin);
  const Program old_code = program_of(*before.find(kEntry), before.sm);
  const Program new_code = program_of(*after.find(kEntry), after.sm);
  int exchanged = 0;
  for (std::size_t at = 0; at < old_code.code.size(); ++at) {
    const unsigned waits = old_code.operations[at].control.wait_mask;
    EXPECT_EQ(waits, new_code.operations[at].control.wait_mask) << new_code.operations[at].text;
    exchanged += waits != 0 && old_code.code[at].low != new_code.code[at].low;
  }
  EXPECT_GT(exchanged, 5);
}

// Two instructions exchanged; scoreboards, waits and stalls stay where they were.
Program exchanged_behind_waits(const Program& program, std::size_t first, std::size_t second) {
  Program mutant = exchanged(program, first, second);
  for (const std::size_t at : {first, second}) {
    Control control = program.operations[at].control;
    control.reuse = 0;
    replace(mutant, at, with_control(mutant.code[at], control));
  }
  return mutant;
}

// What moved in the patched kernel may not move in front of its wait.
TEST(Patch, AnFfmaInFrontOfItsWaitIsFound) {
  const CubinFile file = read_cubin(patched().cubin);
  const Program program = program_of(*file.find(kEntry), file.sm);
  const Waits waits = waits_of(program);
  int planted = 0;
  for (std::size_t at = 1; at < program.code.size(); ++at) {
    if (!may_move(program, at) || !may_move(program, at - 1)) continue;
    if (program.operations[at - 1].control.wait_mask != 0) continue;
    const bool reads_what_came = std::ranges::any_of(waits[at], [&](const ScoreboardWait& wait) {
      return std::ranges::any_of(program.operations[at].reads, [&](const RegisterUse& use) {
        return use.file == wait.file && use.first <= wait.reg && wait.reg < use.first + use.count;
      });
    });
    const Program mutant = exchanged_behind_waits(program, at - 1, at);
    // Values alone would not tell: they know no time.
    if (!reads_what_came || !prove_equal(program, mutant).is_proved) continue;
    ++planted;
    EXPECT_FALSE(find_hazards(mutant).empty()) << program.operations[at].text;
  }
  std::cout << planted << " FFMAs in front of their wait, all found\n";
  EXPECT_GT(planted, 20);
}

// Without a stretch to work on, not even control fields change.
TEST(Patch, AKernelThatGainsNothingStays) {
  PatchOptions options{.kernel = kEntry};
  options.least_moving = 1 << 20;
  const PatchResult same = optimise(image_with(kEntry), options);
  EXPECT_FALSE(same.kernels[0].is_changed());
  EXPECT_TRUE(std::ranges::equal(same.cubin, image_with(kEntry)));
}

TEST(Patch, ProofIsReadable) {
  const std::string text = proof_text(patched());
  for (const char* part : {kEntry, "instructions moved", "bitwise equal", "hazards: none",
                           "bubbles", "crowded", "(model)", "CUDA 13.0"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(Patch, PatchedCodeCanBePatchedAgain) {
  const PatchResult again = optimise(patched().cubin, {.kernel = kEntry});
  const LoopChange &first = patched().kernels[0].loops[0], &second = again.kernels[0].loops[0];
  EXPECT_EQ(second.before.cycles, first.after.cycles);
  EXPECT_LE(second.after.cycles, first.after.cycles);
}

// A cubin in which the first FFMA that waits for a load no longer does.
std::vector<std::byte> with_a_planted_hazard() {
  const auto image = image_with(kEntry);
  const CubinFile file = read_cubin(image);
  const CubinKernel& kernel = *file.find(kEntry);
  std::vector<Instruction> code = kernel.code;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const Operation operation = decode(code[at], at * kInstructionBytes, file.sm);
    if (operation.name != "FFMA" || operation.control.wait_mask == 0) continue;
    Control control = operation.control;
    control.wait_mask = 0;
    code[at] = with_control(code[at], control);
    break;
  }
  return with_code(image, kernel, code);
}

TEST(Patch, APlantedHazardIsRefusedByPlaceAndReason) {
  try {
    optimise(with_a_planted_hazard(), {.kernel = kEntry});
    FAIL() << "not refused";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    for (const char* part :
         {kEntry, " at 0x", "FFMA", "may still be written by LDS", "not patched"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
  }
}

// Where all kernels are patched, one with a hazard stays as it is.
TEST(Patch, AKernelWithAHazardIsLeftAloneAmongOthers) {
  const std::vector<std::byte> image = with_a_planted_hazard();
  PatchOptions options;
  options.reorder.beam = 4;
  const PatchResult result = optimise(image, options);
  ASSERT_GT(result.kernels.size(), 1u);
  for (const KernelPatch& kernel : result.kernels) {
    const bool is_planted = kernel.name == kEntry;
    EXPECT_EQ(!kernel.left_alone.empty(), is_planted) << kernel.left_alone;
    EXPECT_EQ(kernel.is_changed(), !is_planted) << kernel.name;
  }
  const CubinFile before = read_cubin(image), after = read_cubin(result.cubin);
  for (std::size_t at = 0; at < before.find(kEntry)->code.size(); ++at) {
    EXPECT_EQ(before.find(kEntry)->code[at].low, after.find(kEntry)->code[at].low);
    EXPECT_EQ(before.find(kEntry)->code[at].high, after.find(kEntry)->code[at].high);
  }
}

// The image with a section of relocations that name these places of the entry's code. WHY the
// constants' section under another name: its 16 bytes an entry are there, and the patcher reads no
// constants.
std::vector<std::byte> with_relocations(std::span<const std::byte> image,
                                        const std::vector<std::uint64_t>& places) {
  constexpr std::size_t kSectionTable = 40, kCount = 60, kNames = 62;  // of an ELF header
  constexpr std::size_t kHeader = 64, kOffset = 24, kSize = 32;        // of a section's
  const std::string old_name = std::string(".nv.constant0.") + kEntry;
  const std::string new_name = std::string(".rel.text.") + kEntry;
  std::vector<std::byte> changed(image.begin(), image.end());
  const auto put = [&]<class Number>(std::size_t at, Number number) {
    std::memcpy(&changed[at], &number, sizeof number);
  };
  const auto table = number_at<std::uint64_t>(image, kSectionTable);
  const auto header = [&](std::size_t i) { return table + i * kHeader; };
  const auto names =
      number_at<std::uint64_t>(image, header(number_at<std::uint16_t>(image, kNames)) + kOffset);
  for (std::size_t i = 0; i < number_at<std::uint16_t>(image, kCount); ++i) {
    const auto name = number_at<std::uint32_t>(image, header(i));
    if (reinterpret_cast<const char*>(&image[names + name]) != old_name) continue;
    const auto shift = static_cast<std::uint32_t>(old_name.size() - new_name.size());
    std::memcpy(&changed[names + name + shift], new_name.data(), new_name.size());
    put(header(i), name + shift);
    put(header(i) + kSize, std::uint64_t{16} * places.size());
    const auto begin = number_at<std::uint64_t>(image, header(i) + kOffset);
    for (std::size_t k = 0; k < places.size(); ++k) put(begin + 16 * k, places[k]);
    return changed;
  }
  throw std::runtime_error("the image has no constants");
}

// What a relocation names is found at that place by whoever loads the file.
TEST(Patch, RelocatedInstructionsStay) {
  const auto moved = [](std::span<const std::byte> from, std::span<const std::byte> to) {
    const CubinFile before = read_cubin(from), after = read_cubin(to);
    std::vector<std::uint64_t> places;
    for (std::size_t at = 0; at < before.find(kEntry)->code.size(); ++at) {
      const Instruction old = without_control(before.find(kEntry)->code[at]);
      const Instruction now = without_control(after.find(kEntry)->code[at]);
      if (old.low != now.low || old.high != now.high) places.push_back(kInstructionBytes * at);
    }
    return places;
  };
  std::vector<std::uint64_t> fixed = moved(image_with(kEntry), patched().cubin);
  ASSERT_GT(fixed.size(), 3u);
  fixed.resize(3);
  const std::vector<std::byte> image = with_relocations(image_with(kEntry), fixed);
  const std::vector<std::uint64_t> others = moved(image, optimise(image, {.kernel = kEntry}).cubin);
  EXPECT_GT(others.size(), 3u);
  for (const std::uint64_t place : fixed) {
    EXPECT_EQ(std::count(others.begin(), others.end(), place), 0) << place;
  }
}

TEST(Patch, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(optimise(image_with(kEntry), {.kernel = "nobody"}), std::runtime_error);
  std::vector<std::byte> newer(image_with(kEntry).begin(), image_with(kEntry).end());
  newer[49] = std::byte{100};  // e_flags: the architecture
  EXPECT_THROW(optimise(newer), std::runtime_error);
  newer.resize(100);
  EXPECT_THROW(optimise(newer), std::runtime_error);
}

}  // namespace
}  // namespace tessera::sass
