// Explanations of real kernels on the virtual GPU: where their cost stands, and that formulas and
// counts agree on every rung.
#include "lab/explain/explain.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

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

// The small problem of `make run` and the one of the ladder's table have one story, though the
// first leaves SMs empty.
TEST(Explanations, SmallAndLargeAgree) {
  const std::pair<const char*, const char*> rungs[] = {{"02", "integer instructions"},
                                                       {"03", "bank conflicts"},
                                                       {"05", "waiting"},
                                                       {"09", "waiting"},
                                                       {"12", "issue slots"}};
  for (const auto& [rung, limit] : rungs) {
    const Explanation small = explain(run(rung, 512, 128, 256), arch::kH200, SourceTree(""));
    const Explanation large = explain(run(rung, 2048, 2048, 2048, 16), arch::kH200, SourceTree(""));
    EXPECT_EQ(small.limited_by, limit) << rung;
    EXPECT_EQ(large.limited_by, limit) << rung;
  }
}

TEST(Explanations, ThePartThatIsNamedIsInTheTable) {
  const Explanation e = explain(run("02", 512, 128, 256), arch::kH200, SourceTree(""));
  const ResourceUse& named = e.evidence.resources.front();
  EXPECT_EQ(named.name, "ALU, in the replay");
  EXPECT_EQ(named.amount, e.evidence.totals.integer);
  ASSERT_FALSE(e.costly.empty());
  EXPECT_EQ(class_of(e.costly.front().form), InstructionClass::kInteger) << e.costly.front().form;
  EXPECT_NE(render(e, 6).find("lines that cost most (ALU, in the replay)"), std::string::npos);
}

// Where a prediction is far beyond its bound, what fills the rest is told, and adds up.
TEST(Explanations, WhatFillsALongPredictionIsTold) {
  const Explanation small = explain(run("05", 512, 128, 256), arch::kH200, SourceTree(""));
  ASSERT_TRUE(small.prediction);
  const double bound = small.evidence.resources.front().ms;
  ASSERT_GT(small.prediction->time_ms, 4 * bound);
  double sum = bound;
  for (const UnitTime& part : small.rest) {
    EXPECT_GT(part.ms, 0) << part.name;
    sum += part.ms;
  }
  EXPECT_NEAR(sum, small.prediction->time_ms, 0.03 * small.prediction->time_ms);
  ASSERT_EQ(small.rest.size(), 4u);
  const auto part = [&](const std::string& name) {
    return std::ranges::find(small.rest, name, &UnitTime::name)->ms;
  };
  EXPECT_NEAR(part("launching"), 0.0037, 1e-9);
  EXPECT_NEAR(part("filling and draining the SMs"), 0.004, 1e-9) << "one wave";
  EXPECT_NE(render(small, 6).find("That is 5 times the bound (load/store unit). The rest"),
            std::string::npos);
  const Explanation large = explain(run("12", 2048, 2048, 2048, 16), arch::kH200, SourceTree(""));
  EXPECT_TRUE(large.rest.empty()) << "the bound explains it";
}

// Tensor cores of BF16 have a rate, if no replay: a rung on them is limited by something with a
// name, and its lines add up to no more than all.
TEST(Explanations, RungsOnTensorCoresHaveABound) {
  const std::pair<const char*, const char*> rungs[] = {{"31", "issue slots"},
                                                       {"34", "tensor cores"},
                                                       {"37", "tensor cores"},
                                                       {"43", "tensor cores"},
                                                       {"47", "tensor cores"}};
  for (const auto& [rung, limit] : rungs) {
    const Explanation e = explain(run(rung, 2048, 2048, 2048, 8), arch::kH200, SourceTree(""));
    EXPECT_EQ(e.limited_by, limit) << rung;
    EXPECT_FALSE(e.prediction) << rung;
    EXPECT_EQ(e.verdict.find("not said"), std::string::npos) << e.verdict;
  }
  const Explanation thin = explain(run("37", 512, 128, 256), arch::kH200, SourceTree(""));
  ASSERT_EQ(thin.evidence.resources.front().resource, Resource::kDram);
  double bytes = 0;
  for (const Site& site : thin.costly) bytes += use_of(site, Resource::kDram);
  EXPECT_LE(bytes, thin.evidence.totals.sector_bytes);
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
    if (kernel.types == kF16x3Types) continue;            // of terms, which another launch makes
    if (kernel.family == "vector") continue;              // a pass for each vector, no tiles
    if (kernel.family == "mixed") continue;               // operands of two sizes
    if (kernel.name == "40_cluster_multicast") continue;  // what one CTA loads two receive
    for (const std::string& variant : variants_of(kernel)) {
      const gemm::PlanOptions one_launch{.split = gemm::Policy::kNever,
                                         .repack = gemm::Policy::kNever,
                                         .remainder = gemm::Policy::kNever};
      const std::string name = kernel.name + "/" + variant;
      const Explanation e =
          explain(run(name.c_str(), 256, 256, 64, 0, one_launch), arch::kH200, SourceTree(""));
      // The sums that slices of k, each with its own warps, send to the first slice. In such
      // kernels only asynchronous copies fill tiles.
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
  EXPECT_EQ(limit("05"), "waiting");
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
  EXPECT_EQ(row(step.counts, "useful FMAs").back(), "=");
  EXPECT_EQ(row(step.code, "LDS.32"), (Cells{"LDS.32", "64", "40", "0.625"}));
  EXPECT_FALSE(row(step.times, "measured, 4096x4096x4096").empty());
}

std::string cell_of(const Step& step, const std::string& what, std::size_t column) {
  for (const auto& cells : step.counts.rows) {
    if (cells.front() == what) return cells.at(column);
  }
  return "-";
}

// One definition: a step says of its kernels what `ladder` says of each.
TEST(Steps, FmasPerLoadAreThoseOfTheLadder) {
  const CountedRun whole = run("12", 128, 128, 32), overhangs = run("13", 128, 128, 32);
  const Step step = compare_step(whole, overhangs, arch::kH200, SourceTree());
  const auto ladder = [](const CountedRun& run) {
    return fmt::format("{:.4g}", summarize(run.counts, run.problem).fma_per_shared_load());
  };
  EXPECT_EQ(cell_of(step, "FMA : shared load", 1), ladder(whole));
  EXPECT_EQ(cell_of(step, "FMA : shared load", 2), ladder(overhangs));
  EXPECT_EQ(cell_of(step, "useful FMAs", 3), "=");
  EXPECT_EQ(cell_of(step, "FMAs that ran", 3), "2") << "half of a tile of 256 lies outside";
  EXPECT_NE(cell_of(step, "global loads", 2), "0") << "asynchronous copies load, too";
}

// The fragments of WMMA are loaded through generic addresses.
TEST(Steps, GenericAccessesCountWhereTheirAddressesLie) {
  const Step step =
      compare_step(run("24", 64, 64, 64), run("24/staged", 64, 64, 64), arch::kH200, SourceTree());
  const auto count = [&](const char* what, std::size_t column) {
    return std::stod(cell_of(step, what, column));
  };
  constexpr double kProducts = 64.0 * 64 * 64 / (8 * 8 * 4);
  EXPECT_GE(count("global loads", 1), 2 * kProducts) << "a fragment of A and of B for each product";
  EXPECT_GE(count("shared loads", 2), 2 * kProducts);
  EXPECT_EQ(cell_of(step, "FMA : shared load", 2), "-");
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
