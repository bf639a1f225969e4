#include "catalog/catalog.h"
#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
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
  EXPECT_EQ(choose_kernels("01,12,*wmma").size(), 3u);
  EXPECT_EQ(choose_kernels("all").size(), all_kernels().size());
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
    EXPECT_FALSE(image_of(kernel).ptx.empty());
    for (const KernelRow& row : kernel.rows) {
      const bool is_new = entries.insert(row.entry).second;
      EXPECT_EQ(is_new, kernel.patched_from.empty()) << row.entry;
      EXPECT_NE(image_of(kernel).ptx.find(".entry " + row.entry + "("), std::string_view::npos);
    }
    for (const HelperEntry& helper : kernel.helpers) {
      EXPECT_NE(image_of(kernel).ptx.find(".entry " + helper.entry + "("), std::string_view::npos);
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
  const CodeImage &patched = image_of(rung), &plain = image_of(from);
  EXPECT_EQ(patched.name, rung.name);
  EXPECT_EQ(patched.ptx, plain.ptx);
  EXPECT_TRUE(std::ranges::equal(patched.cubin, plain.cubin));
  EXPECT_TRUE(plain.patched.made_from.empty());
  EXPECT_EQ(patched.patched.made_from, hash_of(plain.cubin));
  EXPECT_FALSE(patched.patched.note.empty());
}

// Column-major is row-major with the operands exchanged: the sides follow.
TEST(Catalog, PicksTheRowOfTheOperandSides) {
  const Kernel& kernel = *choose_kernels("12").front().kernel;
  const auto entry = [&](Order order, const char* layout) {
    Problem p{.m = 4, .n = 4, .k = 4, .order = order};
    set_layout(p, layout);
    const std::string name = row_for(kernel, "128x128x8", p).entry;
    return name.substr(name.size() - 5);
  };
  EXPECT_EQ(entry(Order::kRowMajor, "NN"), "ak_bn");
  EXPECT_EQ(entry(Order::kRowMajor, "TN"), "am_bn");
  EXPECT_EQ(entry(Order::kRowMajor, "NT"), "ak_bk");
  EXPECT_EQ(entry(Order::kRowMajor, "TT"), "am_bk");
  EXPECT_EQ(entry(Order::kColumnMajor, "NN"), "ak_bn");
  EXPECT_EQ(entry(Order::kColumnMajor, "NT"), "am_bn");
  EXPECT_EQ(entry(Order::kColumnMajor, "TN"), "ak_bk");
  EXPECT_EQ(entry(Order::kColumnMajor, "TT"), "am_bk");
}

TEST(Catalog, RefusesWhatAKernelCannotRun) {
  const Kernel& kernel = *choose_kernels("01").front().kernel;
  Problem p = with_default_ld({.m = 8, .n = 8, .k = 8, .type = DataType::kF64});
  EXPECT_EQ(supports(kernel, kernel.rows[0], p).code, StatusCode::kUnsupported);
  p.type = DataType::kF32;
  EXPECT_TRUE(supports(kernel, kernel.rows[0], p).ok());
  p = with_default_ld({.m = 1 << 22, .n = 1 << 22, .k = 1, .type = DataType::kF32});
  EXPECT_FALSE(supports(kernel, kernel.rows[0], p).ok());
}

TEST(Catalog, ThreadsOfABlockShareItsOutputs) {
  for (const Kernel& kernel : all_kernels()) {
    for (const KernelRow& row : kernel.rows) {
      if (row.resident > 0) continue;  // some of their threads only fetch
      const int outputs = row.thread.m * row.thread.n * row.threads * row.threads_y;
      EXPECT_EQ(outputs, row.block.m * row.block.n) << row.entry;
    }
  }
  EXPECT_EQ(choose_kernels("12").front().kernel->rows.front().thread.m, 8);
  EXPECT_EQ(choose_kernels("07").front().kernel->rows.front().thread.n, 4);
}

TEST(Plan, CoversTheOutputWithALinearGrid) {
  const Kernel& kernel = *choose_kernels("12").front().kernel;
  const Problem p = with_default_ld({.m = 129, .n = 257, .k = 9, .order = Order::kRowMajor});
  const Plan plan = kernel.plan(row_for(kernel, "128x128x8", p), p, {}, {});
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].shape.grid, 2 * 3);
  EXPECT_EQ(plan.launches[0].shape.block, 256);
}

TEST(Plan, LaunchesNothingForAnEmptyOutput) {
  for (const Kernel& kernel : all_kernels()) {
    const Problem p = with_default_ld({.m = 0, .n = 5, .k = 5, .type = kernel.type});
    EXPECT_TRUE(kernel.plan(kernel.rows[0], p, {}, {}).launches.empty());
  }
}

TEST(Plan, PacksOnlyWhatIsRead) {
  const Kernel& kernel = *choose_kernels("21").front().kernel;
  Problem p = with_default_ld({.m = 9, .n = 8, .k = 7, .type = DataType::kF64});
  EXPECT_EQ(kernel.plan(kernel.rows[0], p, {}, {.workspace = 0x1000}).launches.size(), 3u);
  // Canonical A is 8 x 7 -> 64, B is 7 x 9 -> 8 x 16 = 128 doubles.
  EXPECT_EQ(kernel.workspace_bytes(kernel.rows[0], p, {}), (64 + 128) * 8);
  p.alpha = 0;
  EXPECT_EQ(kernel.plan(kernel.rows[0], p, {}, {.workspace = 0x1000}).launches.size(), 1u);
}

// Legal operands whose padded copies would be larger than 63 bits can count.
TEST(Plan, RefusesPackedCopiesBeyond63Bits) {
  const Kernel& kernel = *choose_kernels("24").front().kernel;
  Problem p{.m = 1, .n = 1, .k = std::int64_t{1} << 55, .type = DataType::kF64};
  EXPECT_EQ(kernel.workspace_bytes(kernel.rows[0], with_default_ld(p), {}), std::int64_t{1} << 62);
  for (const int shift : {56, 57, 58, 59}) {
    p.k = std::int64_t{1} << shift;
    const Problem problem = with_default_ld(p);
    ASSERT_TRUE(check(problem).ok());
    EXPECT_THROW(kernel.workspace_bytes(kernel.rows[0], problem, {}), StatusError);
    EXPECT_THROW(kernel.plan(kernel.rows[0], problem, {}, {}), StatusError);
  }
}

}  // namespace
}  // namespace tessera
