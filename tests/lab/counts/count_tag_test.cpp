// The tag on the kernels of this build: what ptxas leaves alone, and what it merges.
#include "lab/counts/count_tag.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"

namespace tessera::lab {
namespace {

std::vector<std::string> differences_of(const char* pattern) {
  const KernelChoice choice = choose_kernels(pattern).front();
  const KernelRow& row = rows_of(*choice.kernel, choice.variant).front();
  return cubin_differences(*choice.kernel, {row.entry});
}

TEST(CountTag, VolatileTilesKeepTheCubinEqualToItsPtx) {
  for (const char* pattern : {"01", "03", "05", "07"}) {
    EXPECT_TRUE(differences_of(pattern).empty()) << pattern << differences_of(pattern).front();
  }
}

// Rung 22 reads its tiles without volatile: ptxas makes wide loads of narrow ones.
TEST(CountTag, MergedLoadsMakeAModelAndBothNumbersAreKept) {
  const KernelChoice choice = choose_kernels("22").front();
  const KernelRow& row = choice.kernel->rows.front();
  CountSummary counts;
  set_tag(counts, *choice.kernel, {row.entry});
  EXPECT_EQ(counts.tag, "model");
  ASSERT_FALSE(counts.cubin_differences.empty());
  EXPECT_NE(counts.cubin_differences.front().find(" in the PTX, "), std::string::npos);
  EXPECT_NE(counts.cubin_differences.front().find(" in the cubin"), std::string::npos);
}

TEST(CountTag, ApproximateFormsComeFirst) {
  const KernelChoice choice = choose_kernels("01").front();
  CountSummary counts;
  counts.approximate_forms = {"ex2.approx.f32"};
  set_tag(counts, *choice.kernel, {choice.kernel->rows.front().entry});
  EXPECT_EQ(counts.tag, "approximate");
}

TEST(CountTag, ASampleIsAModel) {
  const KernelChoice choice = choose_kernels("01").front();
  CountSummary counts;
  counts.clusters = 256;
  counts.ran = 64;
  set_tag(counts, *choice.kernel, {choice.kernel->rows.front().entry});
  EXPECT_EQ(counts.tag, "model");
  EXPECT_EQ(footprint_tag(counts), "model");
}

TEST(CountTag, WavefrontsAreAModelWhereTheBankModelsDiffer) {
  CountSummary counts;
  counts.memory.loads.shared.plain = {4, 4};
  counts.memory.loads.shared.pair = {4, 4};
  EXPECT_EQ(wavefront_tag(counts), "exact");
  counts.memory.loads.shared.pair = {2, 2};
  EXPECT_EQ(wavefront_tag(counts), "model");
  EXPECT_EQ(footprint_tag(counts), "exact");
  counts.tag = "approximate";
  EXPECT_EQ(wavefront_tag(counts), "approximate");
}

TEST(CountTag, AnUnknownEntryIsNoProof) {
  const KernelChoice choice = choose_kernels("01").front();
  EXPECT_THROW(cubin_differences(*choice.kernel, {"nobody"}), StatusError);
}

}  // namespace
}  // namespace tessera::lab
