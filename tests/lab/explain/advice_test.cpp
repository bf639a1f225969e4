// Each rule on a case made by hand, and on its opposite.
#include "lab/explain/advice/advice.h"

#include <gtest/gtest.h>

#include "tests/lab/explain/made_sites.h"

namespace tessera::lab {
namespace {

TEST(Advice, BankConflicts) {
  const Evidence bad = evidence({shared_load(1000, 32), plain("fma.rn.f32", 1000)});
  const std::vector<Advice> list = advise(bad);
  const Advice* advice = find(list, "bank-conflicts");
  ASSERT_TRUE(advice);
  EXPECT_NE(advice->sentence.find("the load of tile_b (ld.shared.f32) at src/demo/kernel.cu:28 "
                                  "takes 32 wavefronts where 1 would do"),
            std::string::npos)
      << advice->sentence;
  EXPECT_NE(advice->sentence.find("32 words apart"), std::string::npos) << advice->sentence;
  EXPECT_EQ(limited_by(bad), "bank conflicts");
  EXPECT_NE(verdict(bad).find("src/demo/kernel.cu:28"), std::string::npos);

  const Evidence good = evidence({shared_load(1000, 1), plain("fma.rn.f32", 1000)});
  EXPECT_FALSE(fires(good, "bank-conflicts"));
  EXPECT_EQ(limited_by(good), "shared-memory accesses");
}

// A row that is one word longer would break the alignment of the accesses that conflict, or of
// others to the same array.
TEST(Advice, PaddingKeepsTheAlignmentOfItsAccesses) {
  const auto cure = [](std::vector<Site> sites) {
    sites.push_back(plain("fma.rn.f32", 1000));
    const Evidence e = evidence(std::move(sites));
    const std::vector<Advice> list = advise(e);
    const Advice* advice = find(list, "bank-conflicts");
    return advice ? advice->remedy : "none";
  };
  const auto with_form = [](const char* form, std::uint64_t bytes, int line) {
    Site site = shared_load(1000, 8, line);
    site.form = form;
    site.memory.shared.requested_bytes = 32 * bytes * site.warp;
    return site;
  };
  const auto says = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  const std::string word = cure({shared_load(1000, 32)});
  EXPECT_TRUE(says(word, "by one word")) << word;
  for (const char* form : {"ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                           "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"}) {
    const std::string fragment = cure({with_form(form, 16, 28)});
    EXPECT_TRUE(says(fragment, "pad its rows by 16 bytes")) << fragment;
    EXPECT_TRUE(says(fragment, "loads of fragments need rows that begin at multiples of 16"));
    EXPECT_EQ(says(fragment, "matrices at multiples of 32"), std::string(form).starts_with("wmma"));
  }
  const std::string wide = cure({with_form("ld.shared.v2.f32", 8, 28)});
  EXPECT_TRUE(says(wide, "by 8 bytes")) << wide;
  const std::string beside = cure({shared_load(1000, 32), with_form("st.shared.v4.f32", 16, 20)});
  EXPECT_TRUE(says(beside, "by 16 bytes")) << beside << "a wide store to the same tile";
}

TEST(Resources, APipeIsBusyWithAllOfItsInstructions) {
  const Evidence e =
      evidence({plain("fma.rn.f64", 100), plain("add.f64", 40), plain("mul.f64", 30),
                plain("div.rn.f64", 10), plain("add.f32", 7), plain("fma.rn.f32", 5)});
  const auto amount = [&](Resource resource) {
    const auto at = std::ranges::find(e.resources, resource, &ResourceUse::resource);
    return at == e.resources.end() ? 0 : at->amount;
  };
  EXPECT_EQ(amount(Resource::kFp64), 100 + 40 + 30 + 8 * 10);
  EXPECT_EQ(amount(Resource::kFma), 12);
  double of_sites = 0;
  for (const Site& site : e.sites) of_sites += use_of(site, Resource::kFp64);
  EXPECT_EQ(of_sites, amount(Resource::kFp64));
}

TEST(Advice, TheWorstConflictIsNamedNotTheFirst) {
  const Evidence e = evidence({shared_load(1000, 2, 27), shared_load(1000, 8, 29)});
  const std::vector<Advice> list = advise(e);
  ASSERT_TRUE(find(list, "bank-conflicts"));
  EXPECT_NE(find(list, "bank-conflicts")->sentence.find(":29 takes 8"), std::string::npos);
  EXPECT_EQ(by_cost(e).front().line, 29);
}

TEST(Advice, ConflictsThatHideBehindArithmeticAreNotWorthAWord) {
  EXPECT_FALSE(
      fires(evidence({shared_load(10, 32), plain("fma.rn.f32", 100000)}), "bank-conflicts"));
}

TEST(Advice, ScatteredAccess) {
  const Evidence bad = evidence({global_load(1000, 32), plain("fma.rn.f32", 1000)});
  const std::vector<Advice> list = advise(bad);
  ASSERT_TRUE(find(list, "scattered-access"));
  EXPECT_NE(find(list, "scattered-access")->sentence.find("32 sectors per request where 4"),
            std::string::npos);
  EXPECT_EQ(limited_by(bad), "scattered global accesses");
  const Evidence good = evidence({global_load(1000, 1), plain("fma.rn.f32", 1000)});
  EXPECT_FALSE(fires(good, "scattered-access"));
  EXPECT_EQ(limited_by(good), "global accesses");
}

TEST(Advice, ABroadcastIsNoScatteredAccess) {
  Site broadcast = global_load(1000, 1);
  broadcast.memory.global.distinct_bytes = 4 * 1000;
  broadcast.memory.global.sectors = 1000;
  EXPECT_FALSE(fires(evidence({broadcast}), "scattered-access"));
}

// Four instructions of one line, 16 sectors each for 128 bytes: each fetches a quarter of the same
// sectors. One instruction alone has no neighbours to be merged with.
TEST(Advice, ScalarInsteadOfVectorAccess) {
  const Evidence split = evidence({global_load(4000, 4, 4), plain("fma.rn.f32", 1000)});
  EXPECT_TRUE(fires(split, "scalar-access"));
  EXPECT_FALSE(fires(split, "scattered-access"));
  const Evidence alone = evidence({global_load(4000, 4, 1), plain("fma.rn.f32", 1000)});
  EXPECT_FALSE(fires(alone, "scalar-access"));
  EXPECT_TRUE(fires(alone, "scattered-access"));
}

TEST(Advice, SharedTraffic) {
  EXPECT_TRUE(fires(evidence({shared_load(2000, 1), plain("fma.rn.f32", 1000)}), "shared-traffic"));
  EXPECT_FALSE(
      fires(evidence({shared_load(1000, 1), plain("fma.rn.f32", 16000)}), "shared-traffic"));
}

TEST(Advice, NoSharing) {
  EXPECT_TRUE(fires(evidence({global_load(2000, 1), plain("fma.rn.f32", 1000)}), "no-sharing"));
  EXPECT_FALSE(fires(evidence({global_load(100, 1), plain("fma.rn.f32", 1000)}), "no-sharing"));
  EXPECT_FALSE(fires(evidence({global_load(2000, 1), shared_load(1, 1), plain("fma.rn.f32", 1000)}),
                     "no-sharing"));
}

TEST(Advice, FewWarps) {
  Evidence e = evidence({plain("fma.rn.f32", 1000), plain("bar.sync", 1)});
  EXPECT_FALSE(fires(e, "few-warps"));  // nothing is known
  e.placement = {.ctas = 1, .warps = 32, .max_warps = 64, .limited_by = "registers"};
  ASSERT_TRUE(fires(e, "few-warps"));
  const std::vector<Advice> list = advise(e);
  EXPECT_NE(find(list, "few-warps")->sentence.find("registers"), std::string::npos);
  e.placement.ctas = 2;
  EXPECT_FALSE(fires(e, "few-warps"));
  e.placement.warps = 16;
  EXPECT_TRUE(fires(e, "few-warps"));
  e.placement = {.ctas = 1, .warps = 32, .max_warps = 64};
  e.totals.barriers = 0;
  EXPECT_FALSE(fires(e, "few-warps"));
}

TEST(Advice, Barriers) {
  EXPECT_TRUE(fires(evidence({plain("fma.rn.f32", 3200), plain("bar.sync", 200)}), "barriers"));
  EXPECT_FALSE(fires(evidence({plain("fma.rn.f32", 51200), plain("bar.sync", 200)}), "barriers"));
  EXPECT_FALSE(fires(evidence({plain("fma.rn.f32", 3200)}), "barriers"));
}

TEST(Advice, IssueOverhead) {
  const Evidence bad = evidence({plain("add.s64", 3000), plain("fma.rn.f32", 1000)});
  EXPECT_TRUE(fires(bad, "issue-overhead"));
  EXPECT_EQ(limited_by(bad), "issue slots");
  EXPECT_FALSE(
      fires(evidence({plain("add.s64", 50), plain("fma.rn.f32", 1000)}), "issue-overhead"));
  Evidence elsewhere = bad;
  elsewhere.totals.footprint_bytes = 1e9;
  elsewhere.resources = resources_of(elsewhere.totals, arch::kH200);
  EXPECT_FALSE(fires(elsewhere, "issue-overhead")) << "issue slots are not what it waits for";
}

TEST(Advice, Arithmetic) {
  const Evidence e = evidence({plain("fma.rn.f64", 1000), plain("add.s64", 100)});
  EXPECT_TRUE(fires(e, "arithmetic"));
  EXPECT_EQ(limited_by(e), "FP64 pipe");
  EXPECT_FALSE(fires(evidence({shared_load(1000, 1), plain("fma.rn.f64", 1000)}), "arithmetic"));
}

TEST(Advice, DeviceMemory) {
  Evidence e = evidence({global_load(1000, 1)});
  EXPECT_FALSE(fires(e, "device-memory"));
  e.totals.footprint_bytes = 1e9;
  e.resources = resources_of(e.totals, arch::kH200);
  EXPECT_TRUE(fires(e, "device-memory"));
  EXPECT_EQ(limited_by(e), "device memory");
}

TEST(Advice, Spills) {
  Site spill = plain("ld.local.f32", 500);
  spill.memory.traffic = vgpu::Traffic::kLoad;
  spill.memory.local.requests = 500;
  EXPECT_TRUE(fires(evidence({spill, plain("fma.rn.f32", 1000)}), "local-memory"));
  EXPECT_FALSE(fires(evidence({plain("fma.rn.f32", 1000)}), "local-memory"));
}

// The replay's time over the first row of the table.
Evidence replayed(Evidence e, double times) {
  e.replay = {.known = true, .waits = times > 1.2, .busiest = "L1"};
  e.replay.ms = e.replay.predicted_ms = times * e.resources.front().ms;
  return e;
}

TEST(Advice, TheReplaySaysWhenNothingIsBusy) {
  const Evidence all =
      evidence({shared_load(1000, 1), plain("fma.rn.f32", 1000), plain("bar.sync", 100)});
  Evidence e = replayed(all, 1.1);
  EXPECT_EQ(limited_by(e), "shared-memory accesses");
  const auto weight = [&] {
    const std::vector<Advice> list = advise(e);
    const Advice* advice = find(list, "barriers");
    return advice ? advice->weight : 0;
  };
  const double before = weight();
  e = replayed(all, 2);
  EXPECT_EQ(limited_by(e), "waiting");
  EXPECT_NE(verdict(e).find("(load/store unit) works only 50 %"), std::string::npos) << verdict(e);
  EXPECT_GT(weight(), 2 * before);
  EXPECT_GT(before, 0);
}

TEST(Advice, TheReplayKnowsPartsWithoutARateInTheTable) {
  Evidence e = evidence({shared_load(1000, 1), global_load(1000, 1), plain("add.s32", 1000)});
  e.resources.insert(e.resources.begin(), {Resource::kL2, "L2, in the replay", 1e6, "bytes", 9});
  e.replay = {.known = true, .ms = 10, .predicted_ms = 10, .busiest = "L2", .busy_ms = 9};
  EXPECT_EQ(limited_by(e), "L2 traffic");
  EXPECT_NE(verdict(e).find("L2, in the replay, is busy for 90 %"), std::string::npos)
      << verdict(e);
  e.resources.front() = {Resource::kAlu, "ALU, in the replay", 1e6, "instructions", 9};
  EXPECT_EQ(limited_by(e), "integer instructions");
}

// What the verdict names has a row in the table, and the lines are ranked by it.
TEST(Advice, LinesAreRankedByThePartThatIsNamed) {
  Evidence e = evidence({shared_load(1000, 1), plain("add.s64", 70), plain("add.s32", 800)});
  EXPECT_EQ(by_cost(e).front().form, shared_load(1, 1).form);
  e.resources.insert(e.resources.begin(),
                     {Resource::kAlu, "ALU, in the replay", 870, "instructions", 9});
  const std::vector<Site> lines = by_cost(e);
  ASSERT_EQ(lines.size(), 2u) << "no shared load among them";
  EXPECT_EQ(lines[0].form, "add.s32");
  EXPECT_EQ(lines[1].form, "add.s64");
}

TEST(Advice, NothingCountedIsSaid) {
  EXPECT_EQ(verdict({}), "Nothing was counted.");
  EXPECT_EQ(limited_by({}), "nothing");
  EXPECT_TRUE(advise({}).empty());
}

// Accesses alone, of which no resource has a rate: no weight is a NaN.
TEST(Advice, WithoutABoundNothingIsWeighed) {
  Evidence e;
  e.totals.fma_f32 = 10;
  e.totals.global_requests = 20;
  for (const lab::Advice& advice : advise(e)) EXPECT_EQ(advice.weight, advice.weight);
}

// ---- resources --------------------------------------------------------------------------------

TEST(Resources, RatesOfAnH200) {
  Totals totals;
  totals.warp_instructions = 4 * 132 * 1.98e9;  // a second of issue slots
  totals.pipe_f32 = totals.warp_instructions / 2;
  const std::vector<ResourceUse> uses = resources_of(totals, arch::kH200);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].name, "issue slots");
  EXPECT_NEAR(uses[0].ms, 1000, 1e-6);
  EXPECT_NEAR(uses[1].ms, 500, 1e-6);
}

TEST(Resources, MatrixWorkIsReadFromTheForm) {
  const Site site = plain("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", 10);
  EXPECT_EQ(use_of(site, Resource::kMatrix), 10 * 512.0);
  EXPECT_EQ(use_of(plain("mad.lo.s32", 10), Resource::kMatrix), 0);
}

// Four warps issue it, and it is one product of 64 x 128 x 16.
TEST(Resources, AWarpsPartOfAWgmmaIsAQuarter) {
  const Site site = plain("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", 4);
  EXPECT_EQ(use_of(site, Resource::kMatrix), 2.0 * 64 * 128 * 16);
  EXPECT_EQ(matrix_flop("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"), 65536u);
  EXPECT_EQ(matrix_flop("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), 4096u);
  EXPECT_EQ(matrix_flop("fma.rn.f32"), 0u);
}

TEST(Resources, NoBoundIsNamedForMatrixWorkWithoutARate) {
  Evidence e;
  e.sites = {plain("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 1000), plain("add.s32", 10)};
  e.totals = totals_of({}, e.sites);
  e.totals.warp_instructions = 1010;
  for (const double flop : e.totals.matrix_flop) EXPECT_EQ(flop, 0);
  e.resources = resources_of(e.totals, arch::kH200);
  EXPECT_EQ(limited_by(e), "unknown");
  EXPECT_NE(verdict(e).find("no rate of the tensor cores is known for mma.sync"), std::string::npos)
      << verdict(e);
}

// A second of each kind of product, by the data sheet.
TEST(Resources, ProductsAreRatedByTheirOperands) {
  const arch::Gpu& gpu = arch::kH200;
  const std::tuple<const char*, double, double> kinds[] = {
      {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", 512, gpu.fp64_tensor_peak()},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 2048, gpu.tf32_tensor_peak()},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", 4096, gpu.bf16_tensor_peak()},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 8192, gpu.f16_tensor_peak()},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4096, gpu.f16_tensor_peak()}};
  for (const auto& [form, flop, peak] : kinds) {
    const auto issues = static_cast<std::uint64_t>(peak * 1e12 / flop);
    const Totals totals = totals_of({}, {plain(form, issues)});
    EXPECT_EQ(totals.unrated_matrix, "") << form;
    const std::vector<ResourceUse> uses = resources_of(totals, gpu);
    ASSERT_EQ(uses.size(), 1u) << form;
    EXPECT_EQ(uses[0].name, "tensor cores");
    EXPECT_NEAR(uses[0].ms, 1000, 1e-3) << form;
  }
  for (const char* form : {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
                           "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32"}) {
    EXPECT_EQ(operands_of(form), MatrixOperands::kOther) << form;
  }
}

TEST(Resources, TurnsAreSplitByTheirCause) {
  Wavefronts wavefronts = wavefronts_of(shared_load(10, 4));
  EXPECT_EQ(wavefronts.shared, 10);
  EXPECT_EQ(wavefronts.conflicts, 30);
  wavefronts = wavefronts_of(global_load(10, 4));
  EXPECT_EQ(wavefronts.global, 10);
  EXPECT_EQ(wavefronts.scattered, 30);
}

}  // namespace
}  // namespace tessera::lab
