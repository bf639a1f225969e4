// Explanations of real kernels on the virtual GPU: where their cost stands, and that formulas and
// counts agree on every rung.
#include "lab/explain/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "arch/gpus.h"
#include "device/virtual/virtual_device.h"
#include "lab/explain/step.h"
#include "lab/record/measured.h"

namespace tessera::lab {
namespace {

CountedRun run(const char* kernel, std::int64_t m, std::int64_t n, std::int64_t k,
               std::uint64_t sample = 0, const gemm::PlanOptions& plan = {}) {
  const auto device = make_virtual_device();
  const KernelChoice choice = choose_kernels(kernel).front();
  const Problem problem = with_default_ld({.m = m, .n = n, .k = k, .types = choice.kernel->types});
  return count_run(*device, choice, problem, 1, sample, plan);
}

const Site* find_site(const std::vector<Site>& sites, const char* form, const char* touches) {
  for (const Site& site : sites) {
    if (site.form.find(form) != std::string::npos && site.touches == touches) return &site;
  }
  return nullptr;
}

TEST(Sites, TheTwoLoadsOfOneLineAreTwo) {
  const std::vector<Site> sites = sites_of(run("03", 64, 64, 32), SourceTree());
  const Site* a = find_site(sites, "ld.volatile.shared", "tile_a");
  const Site* b = find_site(sites, "ld.volatile.shared", "tile_b");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->place(), b->place());
  EXPECT_EQ(a->instructions, 32);  // unrolled
  EXPECT_EQ(a->memory.shared.requests, b->memory.shared.requests);
  EXPECT_EQ(wavefronts_of(*a).conflicts, 0);
  EXPECT_EQ(wavefronts_of(*b).conflicts, 31.0 * b->memory.shared.requests);
  EXPECT_EQ(b->text,
            "sum += ladder::as_written(tile_a[row][i]) * "
            "ladder::as_written(tile_b[col][i]);");
  EXPECT_TRUE(b->via.starts_with("src/ladder/shared/common.h:")) << b->via;
  EXPECT_TRUE(find_site(sites, "ld.global", "operand a"));
  EXPECT_TRUE(find_site(sites, "st.global", "operand d"));
}

TEST(Sites, PackingNamesItsOwnPointers) {
  const std::vector<Site> sites = sites_of(run("21", 16, 16, 16), SourceTree(""));
  EXPECT_TRUE(find_site(sites, "ld.global", "source"));
  EXPECT_TRUE(find_site(sites, "st.global", "packed copy"));
  EXPECT_TRUE(find_site(sites, "ld.global", "operand b"));
  for (const Site& site : sites) EXPECT_EQ(site.text, "");  // no tree
}

// Whether tiles come by asynchronous copies rather than by stores.
bool copies_tiles(const Explanation& e) {
  return std::none_of(e.formulas.begin(), e.formulas.end(),
                      [](const FormulaCheck& check) { return check.what == "shared writes"; });
}

// The arithmetic of the ladder holds on every rung at multiples of its block: to the last word.
// Production kernels would turn operands and add parts on top.
TEST(Explanations, FormulasAreTheCountsOfEveryRung) {
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.family == "wgmma") continue;               // tiles of whole rows, partial sums
    if (kernel.family == "vector") continue;              // a pass for each vector, no tiles
    if (kernel.name == "40_cluster_multicast") continue;  // what one CTA loads two receive
    for (const std::string& variant : variants_of(kernel)) {
      const gemm::PlanOptions one_launch{.split = gemm::Policy::kNever,
                                         .repack = gemm::Policy::kNever,
                                         .remainder = gemm::Policy::kNever};
      const std::string name = kernel.name + "/" + variant;
      const Explanation e =
          explain(run(name.c_str(), 256, 256, 64, 0, one_launch), arch::kH200, SourceTree(""));
      // Of slices of k, each with warps of its own, on their way to the first one: asynchronous
      // copies alone fill the tiles of such kernels.
      const KernelRow& row = rows_of(kernel, variant).front();
      const double sums = (row.slices - 1) * 256.0 * 256.0;
      bool reads_known = false;
      for (const FormulaCheck& check : e.formulas) {
        if (check.what == "global reads, naive" || check.what == "global reads, blocked") {
          reads_known = reads_known || check.equal();
        }
        if (check.what == "global writes" || check.what.starts_with("shared")) {
          const bool stages_output = variant == "staged" && check.what.starts_with("shared");
          if (check.what == "shared writes" && sums > 0) {
            EXPECT_EQ(check.counted, sums) << name;
            continue;
          }
          // Fragments of the step behind the last one.
          const double reads = check.counted - sums;
          const bool fetches_ahead = (copies_tiles(e) || sums > 0) &&
                                     check.what == "shared reads" && reads > check.expected &&
                                     reads < 1.4 * check.expected;
          // Plain loads store one tile more, of zeros, after the last one.
          const double tiles = 64.0 / row.block.k;
          const bool stores_ahead = kernel.name.ends_with("_sm75") &&
                                    check.what == "shared writes" &&
                                    check.counted * tiles == check.expected * (tiles + 1);
          EXPECT_TRUE(check.equal() || stages_output || fetches_ahead || stores_ahead)
              << kernel.name << "/" << variant << ", " << check.what << ": " << check.counted
              << " beside " << check.expected;
        }
      }
      EXPECT_TRUE(reads_known) << kernel.name << "/" << variant;
      EXPECT_GT(e.intensities.footprint, 0) << kernel.name;
      EXPECT_FALSE(e.costly.empty()) << kernel.name;
    }
  }
}

TEST(Explanations, TailsSaySo) {
  const Explanation e = explain(run("03", 33, 17, 9), arch::kH200, SourceTree(""));
  for (const FormulaCheck& check : e.formulas) {
    const bool is_whole = check.what == "shared reads" || check.what == "shared writes";
    if (is_whole || check.what == "global reads, blocked" || check.what == "global writes") {
      EXPECT_TRUE(check.equal()) << check.what << ": " << check.counted << ", " << check.expected;
    }
  }
}

TEST(Explanations, WhatLimitsKnownRungs) {
  const auto limit = [](const char* kernel) {
    return limited_by(run(kernel, 256, 128, 64), arch::kH200);
  };
  EXPECT_EQ(limit("01"), "scattered global accesses");
  EXPECT_EQ(limit("03"), "bank conflicts");
  EXPECT_EQ(limit("05"), "shared-memory accesses");
  EXPECT_EQ(limit("12"), "issue slots");
  EXPECT_EQ(limit("22"), "bank conflicts");
}

TEST(Explanations, WithoutMemoryCountsNothingIsSaid) {
  CountedRun bare = run("03", 32, 32, 32);
  for (LaunchCounts& launch : bare.counts) launch.memory = {};
  EXPECT_EQ(limited_by(bare, arch::kH200), "");
}

TEST(Explanations, LargeProblemsTakeASample) {
  const KernelChoice choice = choose_kernels("12").front();
  EXPECT_EQ(sample_for(choice, with_default_ld({.m = 512, .n = 512, .k = 512})), 0u);
  const std::uint64_t sample =
      sample_for(choice, with_default_ld({.m = 4096, .n = 4096, .k = 4096}));
  EXPECT_GE(sample, 32u);
  EXPECT_LT(sample, 1024u);
}

TEST(Steps, CountsCodeAndTimesStandSideBySide) {
  const Step step =
      compare_step(run("05", 64, 64, 64), run("06", 64, 64, 64), arch::kH200, SourceTree());
  ASSERT_EQ(step.files.size(), 2u);
  EXPECT_EQ(step.files[1].after, "src/ladder/06_four_outputs/kernel.cu");
  const auto row = [](const Table& table, const std::string& what) {
    for (const auto& cells : table.rows) {
      if (cells.front() == what) return cells;
    }
    return std::vector<std::string>{};
  };
  using Cells = std::vector<std::string>;
  EXPECT_EQ(row(step.counts, "FMA : shared load"),
            (Cells{"FMA : shared load", "0.5", "0.8", "1.6"}));
  EXPECT_EQ(row(step.counts, "FMAs").back(), "=");
  EXPECT_EQ(row(step.code, "LDS.32"), (Cells{"LDS.32", "64", "40", "0.625"}));
  EXPECT_FALSE(row(step.times, "measured, 4096x4096x4096").empty());
}

TEST(Measured, RowsNameTheirFile) {
  const std::vector<Measured> rows = measured_runs(SourceTree().root());
  ASSERT_FALSE(rows.empty());
  for (const Measured& row : rows) {
    EXPECT_TRUE(row.file.starts_with("results/"));
    EXPECT_GT(row.tflops, 0) << row.kernel;
  }
  EXPECT_TRUE(measured_runs("nowhere").empty());
}

}  // namespace
}  // namespace tessera::lab
