#include "catalog/catalog.h"
#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tessera {
namespace {

std::string error_of(const char* pattern) {
  try {
    choose_kernels(pattern);
  } catch (const StatusError& error) {
    return error.status().message;
  }
  return {};
}

TEST(Choose, TakesNamesNumbersGlobsListsAndAll) {
  EXPECT_EQ(choose_kernels("02_coalesced").front().kernel->name, "02_coalesced");
  EXPECT_EQ(choose_kernels("2").front().kernel->name, "02_coalesced");
  EXPECT_EQ(choose_kernels("02").size(), 1u);
  EXPECT_EQ(choose_kernels("0*").size(), 9u);
  EXPECT_EQ(choose_kernels("01,12,*core_wmma").size(), 3u);
  EXPECT_EQ(choose_kernels("all").size(), all_kernels().size());
  EXPECT_EQ(choose_kernels("library,rungs").size(), all_kernels().size());
  EXPECT_EQ(choose_kernels("library").front().kernel->name, "simt_f32_sm75");
  EXPECT_EQ(choose_kernels("rungs").back().kernel->name, "47_two_halves");
  EXPECT_GT(choose_kernels("rungs/all").size(), choose_kernels("rungs").size());
  EXPECT_EQ(choose_kernels("12/staged").front().variant, "staged");
  EXPECT_EQ(choose_kernels("12/all").size(), 4u);
  EXPECT_EQ(choose_kernels("12").front().variant, "128x128x8");
}

TEST(Choose, NamesWhatItWasGivenAndWhatThereIs) {
  EXPECT_NE(error_of("17_missing").find("'17_missing'"), std::string::npos);
  EXPECT_NE(error_of("17_missing").find("12_warp_tile"), std::string::npos);
  EXPECT_NE(error_of("12/none").find("half_each"), std::string::npos);
  EXPECT_FALSE(error_of("").empty());
  EXPECT_FALSE(error_of("01,").empty());
  EXPECT_NE(error_of("02/").find("variant ''"), std::string::npos);
}

TEST(Catalog, EntriesAreUniqueAndEveryKernelHasAnImage) {
  std::set<std::string> entries;
  for (const Kernel& kernel : all_kernels()) {
    for (const KernelRow& row : kernel.rows) {
      const bool is_new = entries.insert(row.entry).second;
      EXPECT_EQ(is_new, kernel.patched_from.empty()) << row.entry;
      EXPECT_NE(image_of(kernel, row.entry).ptx.view().find(".entry " + row.entry + "("),
                std::string_view::npos);
    }
    for (const HelperEntry& helper : kernel.helpers) {
      EXPECT_NE(image_of(kernel, helper.entry).ptx.view().find(".entry " + helper.entry + "("),
                std::string_view::npos);
    }
  }
}

// All but the name, the idea and the patch is that of the kernel it was made from.
TEST(Catalog, APatchedKernelSharesTheCodeOfAnother) {
  const Kernel &rung = *choose_kernels("16").front().kernel,
               &from = *choose_kernels("15")[0].kernel;
  EXPECT_EQ(rung.patched_from, from.name);
  ASSERT_EQ(rung.rows.size(), from.rows.size());
  for (std::size_t i = 0; i < rung.rows.size(); ++i) {
    EXPECT_EQ(rung.rows[i].entry, from.rows[i].entry);
  }
  const std::string& entry = rung.rows[0].entry;
  const CodeImage &patched = image_of(rung, entry), &plain = image_of(from, entry);
  EXPECT_EQ(patched.name, rung.name + "__" + rung.rows[0].variant);
  EXPECT_EQ(patched.ptx.view(), plain.ptx.view());
  EXPECT_TRUE(std::ranges::equal(patched.cubin, plain.cubin));
  EXPECT_TRUE(plain.patched.made_from.empty());
  EXPECT_EQ(patched.patched.made_from, hash_of(plain.cubin));
  EXPECT_FALSE(patched.patched.note.empty());
}

// A variant's rows are neighbours: a plan looks at each variant once.
TEST(Catalog, RowsOfAVariantAreNeighbours) {
  for (const Kernel& kernel : all_kernels()) {
    std::size_t rows = 0;
    for (const std::string& variant : variants_of(kernel)) rows += rows_of(kernel, variant).size();
    EXPECT_EQ(rows, kernel.rows.size()) << kernel.name;
  }
  EXPECT_EQ(rows_of(*choose_kernels("12")[0].kernel, "staged").size(), 4u);
  EXPECT_THROW(rows_of(*choose_kernels("12")[0].kernel, "none"), StatusError);
}

TEST(Catalog, ThreadsOfABlockShareItsOutputs) {
  for (const Kernel& kernel : all_kernels()) {
    for (const KernelRow& row : kernel.rows) {
      // Some of their threads only fetch, or a warp shares each of its outputs.
      if (row.ctas_per_sm > 0 || kernel.family == "warpgroups") continue;
      if (kernel.family == "vector") continue;
      const int outputs = row.thread.m * row.thread.n * row.threads * row.threads_y;
      EXPECT_EQ(outputs, row.block.m * row.block.n) << row.entry;
    }
  }
  EXPECT_EQ(choose_kernels("12").front().kernel->rows.front().thread.m, 8);
  EXPECT_EQ(choose_kernels("07").front().kernel->rows.front().thread.n, 4);
}

}  // namespace
}  // namespace tessera
