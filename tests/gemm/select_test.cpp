// Which kernel the library takes where nobody names one, and what it expects of it.
#include <gtest/gtest.h>

#include "gemm/plan/plan.h"
#include "tests/gemm/stored_runs.h"

namespace tessera {
namespace {

const gemm::DeviceLimits kLimits{.sms = 132};

gemm::Plan plan_of(const Problem& problem) { return gemm::plan(problem, {}, kLimits); }

std::string best(std::int64_t m, std::int64_t n, std::int64_t k, const Types& types = kF32Types) {
  return plan_of({.m = m, .n = n, .k = k, .types = types}).kernel().name;
}

double predicted(const char* kernel, const Problem& problem) {
  return gemm::plan(problem, {}, kLimits, {.kernel = choose_kernels(kernel).front()})
      .offers.front()
      .cost.total();
}

std::string variant(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "NT") {
  Problem problem{.m = m, .n = n, .k = k};
  set_layout(problem, layout);
  const gemm::Plan plan = plan_of(problem);
  EXPECT_EQ(plan.kernel().name, "simt_f32");
  return plan.row().variant;
}

// A tile without a rate is taken for a fast one, and products elsewhere take it.
TEST(Select, EveryTileOfTheLibraryHasARate) {
  for (const Kernel& kernel : all_kernels()) {
    if (!kernel.source.starts_with("kernels/") || kernel.family == "vector") continue;
    for (const KernelRow& row : kernel.rows) {
      for (const gemm::CostTable* const table : {&gemm::kH200Costs, &gemm::kH100Costs}) {
        EXPECT_GT(rate_of(table->rates_of(kernel.name), row.variant), 0)
            << "RATE(\"" << kernel.name << "\", \"" << row.variant
            << "\", TFLOP/s) is missing from src/gemm/cost/tuning/" << table->gpu->name
            << ".inc, with how it was measured or estimated";
      }
    }
  }
}

TEST(Select, AGpuHasTheTableOfItsNameOrThatOfTheH200) {
  EXPECT_EQ(&gemm::costs_for("NVIDIA H200"), &gemm::kH200Costs);
  EXPECT_EQ(&gemm::costs_for("NVIDIA H100 80GB HBM3"), &gemm::kH100Costs);
  EXPECT_EQ(&gemm::costs_for("NVIDIA H100 PCIe"), &gemm::kH200Costs);
  EXPECT_EQ(&gemm::costs_for("NVIDIA A100-SXM4-80GB"), &gemm::kH200Costs);
  EXPECT_TRUE(gemm::has_costs("NVIDIA H100 80GB HBM3"));
  EXPECT_FALSE(gemm::has_costs("NVIDIA H100 PCIe"));
  EXPECT_EQ(gemm::limits_of(DeviceInfo{.name = "NVIDIA H100 80GB HBM3"}).costs, &gemm::kH100Costs);
}

// Each number is of this card: faster memory than its data sheet, or lanes above their peak, would
// be another one's.
TEST(Select, ATableClaimsNoMoreThanItsGpuHas) {
  for (const gemm::CostTable* const table : {&gemm::kH200Costs, &gemm::kH100Costs}) {
    const arch::Gpu& gpu = *table->gpu;
    EXPECT_LE(table->coefficients.memory_bytes, 1.005e3 * gpu.memory_gbs) << gpu.name;
    for (const gemm::Rate& rate : table->rates) {
      const double peak = rate.kernel.find("16") != rate.kernel.npos     ? gpu.bf16_tensor_peak()
                          : rate.kernel.find("tf32") != rate.kernel.npos ? gpu.tf32_tensor_peak()
                          : rate.kernel.find("f64") != rate.kernel.npos  ? gpu.fp64_tensor_peak()
                          : rate.kernel.find("s8") != rate.kernel.npos ? 2 * gpu.bf16_tensor_peak()
                                                                       : gpu.fp32_peak();
      EXPECT_LE(rate.tflops, peak) << gpu.name << ' ' << rate.kernel << '/' << rate.variant;
    }
  }
}

// With a price for each launch after the first, a small product takes fewer; a large one does not
// care.
TEST(Select, ThePriceOfALaunchDecidesBetweenSmallPlans) {
  gemm::CostTable priced = gemm::kH100Costs;
  gemm::DeviceLimits limits{.sms = 132, .costs = &priced};
  const auto launches = [&](std::int64_t m, double price) {
    priced.coefficients.passes.next_launch = price;
    Problem problem{.m = 768, .n = m, .k = 768};
    set_layout(problem, "TN");
    return gemm::plan(problem, {}, limits).steps.size();
  };
  EXPECT_EQ(launches(64, 1000), 1u);
  EXPECT_GE(launches(8192, 0), launches(8192, 1000));
  EXPECT_LE(launches(64, 2.5), launches(64, 0));
}

TEST(Select, LargeProblemsTakeLargeTiles) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const std::int64_t size : {4096, 8192, 16384}) {
      const std::string large = variant(size, size, size, layout);
      EXPECT_TRUE(large == "256x128" || large == "128x128") << large << ' ' << layout;
    }
  }
}

// 16 tiles of 128x128 would leave most of 132 SMs idle.
TEST(Select, SmallProblemsTakeSmallTiles) {
  EXPECT_NE(variant(512, 512, 512), "256x128");
  EXPECT_NE(variant(512, 512, 512), "128x128");
}

// Column-major: the kernel's rows are our columns.
TEST(Select, ThinOutputsTakeThinTiles) {
  EXPECT_EQ(variant(16, 8192, 8192), "128x16");
  EXPECT_EQ(variant(32, 32, 1048576), "64x32_k4");
}

// 64 tiles of 128x128 would leave half of 132 SMs idle.
TEST(Select, ProductsOfFp64TakeTilesBySize) {
  EXPECT_EQ(plan_of({.m = 1024, .n = 1024, .k = 1024, .types = kF64Types}).row().variant, "64x64");
  EXPECT_EQ(plan_of({.m = 2048, .n = 2048, .k = 2048, .types = kF64Types}).row().variant,
            "128x128");
}

TEST(Select, TypesDecide) {
  EXPECT_EQ(best(4096, 4096, 64, kF64Types), "dmma_f64");
  EXPECT_EQ(best(4096, 4096, 4096, kF32Types), "simt_f32");
}

// At 4096 NN, by the same tile.
double measured_at_4096(const char* file) {
  for (const StoredRun& run : stored_runs(file)) {
    if (run.problem.m == 4096 && layout_of(run.problem) == "NN") return run.microseconds;
  }
  ADD_FAILURE() << file;
  return 0;
}

// Pairs of CTAs ask the L2 for fewer rows, which pays where a row takes more requests.
TEST(Select, PairsOfCtasAreForRowsOffLines) {
  for (const Types& types : {kBf16Types, kF16Types, kTf32Types}) {
    const auto is_pair = [&](std::int64_t size, std::int64_t k) {
      Problem problem{.m = size, .n = size, .k = k, .types = types};
      set_layout(problem, "TN");
      return plan_of(problem).row().variant.ends_with("_c2x1");
    };
    const std::int64_t of_16_bytes = 16 / size_of(types.a);
    EXPECT_TRUE(is_pair(4096, 4096 + of_16_bytes)) << name_of(types);
    for (const std::int64_t size : {1024, 2048, 4096, 8192}) {
      EXPECT_FALSE(is_pair(size, size)) << name_of(types) << ' ' << size;
    }
  }
}

// What adds to C costs more, most where pairs of warpgroups read a C that the L2 does not hold:
// there results/epilogues/h100_c_bf16.json is of warpgroups that work together.
TEST(Select, AddingToCIsPartOfTheCost) {
  const auto plan_with = [](std::int64_t size, double beta) {
    return plan_of({.m = size, .n = size, .k = size, .types = kBf16Types, .beta = beta});
  };
  EXPECT_EQ(plan_with(8192, 0).row().variant, "128x192x64_s5_pp");
  EXPECT_EQ(plan_with(8192, 1).row().variant, "128x256x64_s4_coop");
  const gemm::Plan without = plan_with(4096, 0), with = plan_with(4096, 1);
  EXPECT_EQ(without.row().variant, with.row().variant);
  const double more = with.offers.front().cost.total() - without.offers.front().cost.total();
  const double measured = measured_at_4096("epilogues/h100_c_bf16.json") -
                          measured_at_4096("epilogues/h100_c_bf16_none.json");
  // Too dear by half since copies of C start while the tensor cores multiply.
  EXPECT_GE(more, measured);
  EXPECT_LE(more, 1.6 * measured);
}

TEST(Select, EmptyProblemsHaveAKernelToo) { EXPECT_FALSE(best(0, 5, 5).empty()); }

// All variants of the library's kernels of the type, the cheapest first, each once.
TEST(Select, ThePlanRemembersWhatElseThereWas) {
  const gemm::Plan plan = plan_of({.m = 1024, .n = 1280, .k = 800});
  const std::size_t for_vectors = choose_kernels("simt_f32_vector/all").size();
  EXPECT_EQ(plan.offers.size(), choose_kernels("simt_f32*/all").size() - for_vectors);
  for (std::size_t i = 1; i < plan.offers.size(); ++i) {
    EXPECT_LE(plan.offers[i - 1].cost.total(), plan.offers[i].cost.total());
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(plan.offers[i].row, plan.offers[j].row);
    }
  }
  for (const gemm::Candidate& offer : plan.offers) {
    const gemm::Plan alone = gemm::plan(plan.problem, {}, kLimits,
                                        {.kernel = KernelChoice{offer.kernel, offer.row->variant}});
    EXPECT_EQ(alone.offers.size(), 1u);
    EXPECT_EQ(&alone.row(), offer.row);
    EXPECT_EQ(alone.offers.front().cost.total(), offer.cost.total());
    EXPECT_EQ(alone.offers.front().workspace_bytes(), offer.workspace_bytes());
    EXPECT_EQ(alone.offers.front().decision_text(), offer.decision_text());
  }
}

// Rungs are planned when they are named.
TEST(Select, RungsAreNeverChosen) {
  for (const Types& types : {kF32Types, kF64Types}) {
    for (const std::int64_t size : {1, 16, 100, 512, 4096}) {
      for (const gemm::Candidate& offer :
           plan_of({.m = size, .n = size, .k = size, .types = types}).offers) {
        const std::string& name = offer.kernel->name;
        EXPECT_TRUE(name.starts_with("simt_") || name.starts_with("dmma_") ||
                    name.starts_with("vector_"))
            << name;
      }
    }
  }
}

// Within less workspace another kernel may be the best one; what does not fit is no offer.
TEST(Select, TheWorkspaceLimitIsKept) {
  const Problem problem{.m = 4096, .n = 4096, .k = 4096};
  const std::int64_t wanted = plan_of(problem).workspace_bytes();
  for (const std::int64_t limit : {wanted, wanted - 1, std::int64_t{20} << 20}) {
    const gemm::Plan plan = gemm::plan(problem, {}, kLimits, {.workspace_limit = limit});
    for (const gemm::Candidate& offer : plan.offers) EXPECT_LE(offer.workspace_bytes(), limit);
    EXPECT_EQ(plan.workspace_bytes() == wanted, limit == wanted);
  }
}

// Fitted, by who else multiplies while a warpgroup loads its fragments of A.
TEST(Select, FragmentsOfACostMostWhereNobodyElseMultiplies) {
  const auto share = [](const char* kernel) {
    Problem along_k{
        .m = 8192, .n = 8192, .k = 8192, .types = kTf32Types, .order = Order::kRowMajor};
    Problem across = along_k;
    set_layout(along_k, "NT");
    set_layout(across, "TT");
    return predicted(kernel, along_k) / predicted(kernel, across);
  };
  EXPECT_NEAR(share("wgmma_tf32/256x128x32_s4_coop"), 0.95, 0.02);
  EXPECT_NEAR(share("wgmma_tf32/128x128x32_s6_pp"), 0.76, 0.02);
  EXPECT_NEAR(share("wgmma_tf32/128x64x32_s8_coop"), 0.76, 0.02);
}

// One more tile than there are slots costs a whole wave more.
TEST(Select, ThePredictionCountsWholeWaves) {
  const auto time = [&](std::int64_t n) {
    return predicted("12", with_default_ld({.m = 128, .n = n, .k = 512}));
  };
  const double one = time(128 * 200), full = time(128 * 264), more = time(128 * 265);
  EXPECT_NEAR(one, full, 0.05 * full);
  EXPECT_GT(more, 1.6 * full);
}

// Nobody multiplies faster than operands and D pass by: 4 (mk + kn + mn) bytes.
TEST(Select, DeviceMemoryIsAFloor) {
  const double bytes_per_microsecond = 1e3 * arch::kH200.assumed_copy;
  const double outer_product = 4.0 * (2 * 30000 + 30000.0 * 30000) / bytes_per_microsecond;
  const double matrix_vector = 4.0 * 30000 * 30000 / bytes_per_microsecond;
  EXPECT_GT(predicted("simt_f32/64x32", with_default_ld({.m = 30000, .n = 30000, .k = 1})),
            outer_product);
  EXPECT_GT(predicted("simt_f32/128x16", with_default_ld({.m = 30000, .n = 1, .k = 30000})),
            matrix_vector);
}

// Rungs lack tensor copies, and waves of theirs wait for the first tile.
TEST(Select, ThinShapesTakeTheProductionKernels) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const Problem& sizes :
         {Problem{.m = 100000, .n = 64, .k = 64}, Problem{.m = 64, .n = 8192, .k = 8192},
          Problem{.m = 8192, .n = 8192, .k = 64}, Problem{.m = 256, .n = 256, .k = 65536}}) {
      Problem problem = sizes;
      set_layout(problem, layout);
      const std::string name = plan_of(problem).kernel().name;
      EXPECT_TRUE(name == "simt_f32" || name == "simt_f32_direct") << name;
    }
  }
}

}  // namespace
}  // namespace tessera
