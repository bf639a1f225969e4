// The rules for kernels that multiply no matrices, each on a case made by hand and on its opposite.
#include <gtest/gtest.h>

#include "lab/explain/explain.h"
#include "tests/lab/explain/made_sites.h"

namespace tessera::lab {
namespace {

// Device memory moves `moved` bytes for them, and is what they wait for.
Evidence of_memory(std::vector<Site> sites, double moved) {
  Evidence e = evidence(std::move(sites));
  e.multiplies = false;
  e.totals.footprint_bytes = moved;
  e.resources = {
      {Resource::kDram, "device memory", moved, "bytes, each once", 1},
      {Resource::kLoadStore, "load/store unit", e.totals.wavefronts.sum(), "wavefronts", 0.01}};
  return e;
}

Evidence plain_evidence(std::vector<Site> sites) {
  Evidence e = evidence(std::move(sites));
  e.multiplies = false;
  e.placement = {.threads = 256, .grid = 1000, .sms = 132};
  return e;
}

// Lanes that are `step` bytes apart, up to a sector each.
Site apart(std::uint64_t count, std::uint64_t step) {
  Site site = global_load(count, 1);
  site.memory.global.sectors = step * count;
  site.bytes_beside = 4;
  return site;
}

Site atomic(std::uint64_t count, std::uint64_t lanes, bool is_shared) {
  Site site = plain(is_shared ? "atom.shared.add.u32" : "atom.global.add.u32", count);
  site.touches = "bins";
  site.memory.traffic = vgpu::Traffic::kAtomic;
  if (is_shared) {
    site.memory.shared.requests = count;
    site.memory.shared.lanes = 32 * count;
    site.memory.shared.plain = site.memory.shared.pair = {count, count};
    site.memory.shared.same_address_lanes = lanes * count;
  } else {
    site.memory.global.requests = site.memory.global.sectors = count;
    site.memory.global.lanes = 32 * count;
    site.memory.global.data_wavefronts = count;
    site.memory.global.same_address_lanes = lanes * count;
  }
  return site;
}

Site with_lanes(Site site, std::uint64_t lanes) {
  site.thread = lanes * site.warp;
  return site;
}

std::string sentence_of(const Evidence& e, std::string_view rule) {
  const std::vector<Advice> list = advise(e);
  const Advice* const advice = find(list, rule);
  return advice ? advice->sentence : "";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// No sentence and no remedy speaks of products.
void expect_no_products(const Evidence& e) {
  std::string all = verdict(e);
  for (const Advice& advice : advise(e)) all += "\n" + advice.sentence + " " + advice.remedy;
  for (const char* word : {"multipl", "FMA", "product", "operand word", "tile of outputs"}) {
    EXPECT_FALSE(has(all, word)) << word << " in\n" << all;
  }
}

// ---- what lanes fetch and do not use ----------------------------------------------------------

TEST(PlainAdvice, OneFieldOfAStruct) {
  const Evidence e = of_memory({apart(1000, 32)}, 32 * 32 * 1000);
  const std::string seen = sentence_of(e, "uncoalesced-access");
  EXPECT_TRUE(has(seen,
                  "touches 32 sectors per request where 4 would do: neighbouring lanes are "
                  "32 bytes or more apart, and no lane asks for 88 % of the bytes"))
      << seen;
  EXPECT_TRUE(has(verdict(e), seen.substr(0, seen.size() - 1))) << verdict(e);
  EXPECT_FALSE(fires(e, "scattered-access")) << "which says the same";
  EXPECT_FALSE(fires(e, "device-memory")) << "fewer bytes are not all that helps";
  EXPECT_TRUE(has(sentence_of(of_memory({apart(1000, 16)}, 16 * 32 * 1000), "uncoalesced-access"),
                  "about 16 bytes apart"));
  expect_no_products(e);
}

TEST(PlainAdvice, ItIsLeftOutWhereMemoryIsNotWaitedFor) {
  Evidence e = of_memory({apart(1000, 32)}, 32 * 32 * 1000);
  e.multiplies = true;
  EXPECT_FALSE(fires(e, "uncoalesced-access"));
  e.multiplies = false;
  e.resources = {{Resource::kIssue, "issue slots", 1000, "warp instructions", 5}};
  EXPECT_FALSE(fires(e, "uncoalesced-access"));
}

// x, y, z and w in a line each: together they fill their sectors, which a cache keeps.
TEST(PlainAdvice, FieldsThatAreLoadedOneByOne) {
  std::vector<Site> fields;
  for (int i = 0; i < 4; ++i) {
    fields.push_back(apart(1000, 16));
    fields.back().line += i;
    fields.back().bytes_beside = 16;
    fields.back().memory.global.data_wavefronts = 4000;
  }
  Evidence e = of_memory(fields, 16 * 32 * 1000);
  e.resources[1].ms = 1;
  EXPECT_FALSE(fires(e, "uncoalesced-access"));
  EXPECT_TRUE(fires(e, "device-memory"));
  EXPECT_TRUE(has(sentence_of(e, "scalar-access"), "other lines load the rest")) << verdict(e);
  for (Site& site : e.sites) site.bytes_beside = 8;  // and half of the struct is not wanted
  e.totals.footprint_bytes *= 2;
  EXPECT_TRUE(fires(e, "uncoalesced-access"));
}

TEST(PlainAdvice, AllIsWellWhereLanesUseWhatIsMoved) {
  const Evidence e = of_memory({global_load(1000, 1)}, 128 * 1000);
  EXPECT_FALSE(fires(e, "uncoalesced-access"));
  EXPECT_FALSE(fires(e, "misaligned-access"));
  EXPECT_TRUE(has(sentence_of(e, "device-memory"), "only fewer bytes make it faster"));
  EXPECT_TRUE(has(verdict(e), "100 % of the sectors' bytes")) << verdict(e);
  expect_no_products(e);
}

TEST(PlainAdvice, FewerBytesAreNotAllWhereAnotherPartIsNearOrSectorsAreUnused) {
  Evidence e = of_memory({global_load(1000, 1)}, 128 * 1000);
  e.resources[1].ms = 0.79;
  EXPECT_TRUE(has(verdict(e), "so that only fewer bytes make it faster")) << verdict(e);
  e.resources[1].ms = 0.91;
  EXPECT_TRUE(has(verdict(e),
                  "so that fewer bytes make it faster; but load/store unit alone would "
                  "take 91 % of that time; the largest part"))
      << verdict(e);
  Site inside = global_load(1000, 1);
  inside.memory.global.sectors = 5000;
  inside.bytes_beside = 4;
  e = of_memory({inside}, 128 * 1000);
  EXPECT_TRUE(has(verdict(e), "so that fewer bytes make it faster;")) << verdict(e);
}

// Rows of half a warp that begin inside of a sector: in two lines, and one piece of advice.
TEST(PlainAdvice, OneAccessHasOneCause) {
  Site site = global_load(1000, 2);
  site.memory.global.sectors = 5000;
  site.bytes_beside = 4;
  Evidence e = of_memory({site}, 128 * 1000);
  e.resources[1].ms = 0.5;
  EXPECT_TRUE(fires(e, "misaligned-access"));
  EXPECT_FALSE(fires(e, "scattered-access"));
}

TEST(PlainAdvice, AnOffsetInsideASector) {
  Site site = global_load(1000, 1);
  site.memory.global.sectors = 5000;
  site.bytes_beside = 4;
  const Evidence e = of_memory({site}, 128 * 1000);
  EXPECT_TRUE(has(sentence_of(e, "misaligned-access"), "5 sectors per request where 4 would do"));
  EXPECT_FALSE(fires(e, "uncoalesced-access"));
}

// Sectors that a cache serves are more bytes than device memory moves.
TEST(PlainAdvice, SharesAreOfTheSectorsNotOfTheFootprint) {
  for (const bool multiplies : {false, true}) {
    Evidence e = of_memory({global_load(4000, 1)}, 128 * 1000);
    e.multiplies = multiplies;
    EXPECT_TRUE(has(verdict(e), "100 % of the sectors' bytes")) << verdict(e);
  }
}

// ---- lanes of a warp --------------------------------------------------------------------------

TEST(PlainAdvice, LanesThatUpdateOneAddress) {
  for (const bool is_shared : {false, true}) {
    const Evidence e = plain_evidence({atomic(1000, 16, is_shared), plain("add.s32", 4000)});
    const std::string seen = sentence_of(e, "atomic-contention");
    EXPECT_TRUE(has(seen, "the atomic of bins (atom.")) << seen;
    EXPECT_TRUE(has(seen, "16 of a warp's 32 lanes at one address")) << seen;
    EXPECT_TRUE(has(seen, "one after another and take ")) << seen;
    EXPECT_EQ(advise(e).front().rule, "atomic-contention");
    EXPECT_EQ(has(advise(e).front().remedy, "each warp counters of its own"), is_shared);
    EXPECT_EQ(limited_by(e), "atomics on one address");
    EXPECT_FALSE(fires(plain_evidence({atomic(1000, 1, is_shared), plain("add.s32", 4000)}),
                       "atomic-contention"));
    EXPECT_FALSE(fires(plain_evidence({atomic(10, 16, is_shared), plain("add.s32", 400000)}),
                       "atomic-contention"));
    expect_no_products(e);
  }
}

// A warp's integers at one address count as one update: not the line with the most lanes at one
// address is to blame, but the one that the table has first.
TEST(PlainAdvice, TheVerdictsAtomicsAreTheFirstOfTheTable) {
  for (const bool is_shared : {false, true}) {
    Site random = atomic(1000, 11, is_shared), uniform = atomic(1000, 32, is_shared);
    random.line = 18;
    uniform.line = 19;
    for (const auto& sites : {std::vector{random, uniform}, std::vector{uniform, random}}) {
      const Evidence e = plain_evidence(sites);
      EXPECT_EQ(by_cost(e).front().line, 18);
      EXPECT_EQ(limited_by(e), "atomics on one address");
      EXPECT_TRUE(has(verdict(e), "kernel.cu:18 has 11 of a warp's 32 lanes")) << verdict(e);
    }
    EXPECT_FALSE(fires(plain_evidence({uniform}), "atomic-contention"));
    Site apart = atomic(20000, 1, is_shared);
    apart.line = 17;
    const Evidence e = plain_evidence({apart, random});
    EXPECT_EQ(by_cost(e).front().line, 17);
    EXPECT_TRUE(has(verdict(e), "is the atomic of bins") && has(verdict(e), "kernel.cu:17"))
        << verdict(e);
    EXPECT_TRUE(has(sentence_of(e, "atomic-contention"), "kernel.cu:18 has 11"));
  }
}

// After a warp has added up: one lane each, and all of them at one place.
TEST(PlainAdvice, WarpsThatUpdateOneAddress) {
  Evidence e = plain_evidence({atomic(10000, 1, false), plain("add.s32", 40000)});
  EXPECT_FALSE(fires(e, "atomic-contention"));
  e.totals.written_sectors = 1;
  e.resources = resources_of(e.totals, arch::kH200);
  EXPECT_TRUE(has(sentence_of(e, "atomic-contention"),
                  "10,000 requests of the atomic of bins (atom.global.add.u32) at "
                  "src/demo/kernel.cu:30 meet in at most 1 sector of memory"))
      << verdict(e);
  EXPECT_TRUE(has(sentence_of(e, "atomic-contention"),
                  "take 0.0057 ms at least, 0.0072 ms if they are of one address"))
      << sentence_of(e, "atomic-contention");
  e.totals.written_sectors = 10000;
  e.resources = resources_of(e.totals, arch::kH200);
  EXPECT_FALSE(fires(e, "atomic-contention"));
}

// The result is the same for all counts: rounding does not change the order.
TEST(PlainAdvice, AHotSectorThatOutlastsAllElseLeads) {
  for (std::uint64_t count = 100; count < 3000; ++count) {
    Evidence e = plain_evidence({atomic(count, 1, false)});
    e.totals.written_sectors = 1;
    e.resources = resources_of(e.totals, arch::kH200);
    ASSERT_EQ(limited_by(e), "atomics on one address") << count;
  }
}

TEST(PlainAdvice, LanesThatGoDifferentWays) {
  Site odd = with_lanes(plain("add.f32", 9000), 16);
  odd.line = 7;
  const Evidence e = plain_evidence({odd, plain("mul.f32", 1000)});
  const std::string seen = sentence_of(e, "divergence");
  EXPECT_TRUE(has(seen, "18 of a warp's 32 lanes work on average")) << seen;
  EXPECT_TRUE(has(seen, "most are lost at src/demo/kernel.cu:7, where 16 work")) << seen;
  EXPECT_TRUE(has(verdict(e), "Besides, 18 of a warp's 32 lanes")) << verdict(e);
  EXPECT_FALSE(fires(plain_evidence({plain("add.f32", 9000)}), "divergence"));
  EXPECT_FALSE(fires(plain_evidence({with_lanes(plain("bra", 9000), 1), plain("add.f32", 9000)}),
                     "divergence"))
      << "lanes that take a branch are not those that work";
}

TEST(PlainAdvice, ATailIsNoDivergence) {
  // Two warps, of which the second has one lane.
  Evidence e = plain_evidence({with_lanes(plain("add.f32", 1000), 16)});
  e.placement.grid = 1;
  e.placement.threads = 64;
  EXPECT_FALSE(fires(e, "divergence"));
  e.placement.grid = 100;
  EXPECT_TRUE(fires(e, "divergence"));
}

TEST(PlainAdvice, BlocksOfAPartOfAWarp) {
  Evidence e = plain_evidence({with_lanes(plain("add.f32", 1000), 8)});
  e.placement.threads = 8;
  EXPECT_EQ(sentence_of(e, "divergence"), "blocks of 8 threads fill 8 of a warp's 32 lanes.");
}

// ---- what is busy -----------------------------------------------------------------------------

TEST(PlainAdvice, IssueSlotsSayWhatInstructionsAreFor) {
  const Evidence e =
      plain_evidence({plain("add.s64", 600), plain("add.f32", 200), plain("ld.global.f32", 200)});
  EXPECT_TRUE(has(verdict(e),
                  "Issue slots: of the issued instructions 60 % compute with integers, "
                  "compare, move or branch, 20 % access memory, 20 % compute with "
                  "floats; 100 % of all are in src/demo/kernel.cu:30."))
      << verdict(e);
  EXPECT_TRUE(fires(e, "issue-overhead"));
  expect_no_products(e);
}

TEST(PlainAdvice, SpecialFunctionsHaveAUnitOfTheirOwn) {
  const Evidence e = plain_evidence({plain("ex2.approx.ftz.f32", 1000), plain("add.f32", 1000)});
  EXPECT_EQ(limited_by(e), "special function unit");
  EXPECT_EQ(by_cost(e).front().form, "ex2.approx.ftz.f32");
  EXPECT_TRUE(has(sentence_of(e, "arithmetic"), "16 lanes a clock"));
  // 2 clocks of an SM each, and a fourth of a clock for an issue slot.
  EXPECT_NEAR(e.resources[0].ms / e.resources[1].ms, 1000 * 2 / (2000 * 0.25), 1e-9);
}

TEST(PlainAdvice, ReductionsThatMeetOften) {
  const Evidence e =
      plain_evidence({shared_load(2000, 1), plain("bar.sync", 500), plain("add.f32", 500)});
  EXPECT_TRUE(has(sentence_of(e, "barriers"), "every 6 instructions")) << verdict(e);
  EXPECT_TRUE(has(sentence_of(e, "shared-traffic"), "100 % of the load/store unit's wavefronts"));
  EXPECT_FALSE(fires(plain_evidence({plain("bar.sync", 10), plain("add.f32", 1000)}), "barriers"));
  expect_no_products(e);
}

TEST(PlainAdvice, WordsThatAreAskedForAgain) {
  Evidence e = plain_evidence({global_load(1000, 1)});
  e.totals.footprint_bytes = 128 * 100;
  EXPECT_TRUE(has(sentence_of(e, "no-sharing"), "ask 10 times for each byte"));
  e.totals.footprint_bytes = 128 * 500;
  EXPECT_FALSE(fires(e, "no-sharing"));
}

TEST(PlainAdvice, ALaunchThatIsTooSmall) {
  Evidence e = plain_evidence({plain("add.f32", 1000)});
  EXPECT_FALSE(fires(e, "small-launch"));
  e.launch_share = 0.98;
  EXPECT_EQ(sentence_of(e, "small-launch"), "starting it takes 98 % of the predicted time.");
  e.placement.grid = 1;
  EXPECT_TRUE(has(verdict(e),
                  "too small for that to show: 1 block for 132 SMs leaves at least 131 "
                  "of them empty, and starting it takes 98 %"))
      << verdict(e);
  e.placement.grid = 1000;
  e.launch_share = 0.3;
  EXPECT_FALSE(fires(e, "small-launch"));
}

// ---- text -------------------------------------------------------------------------------------

Explanation explained(double times) {
  Explanation e;
  e.evidence = plain_evidence({plain("add.s32", 1000), plain("mov.u32", 500)});
  e.gpu = arch::kH200;
  e.costly = by_cost(e.evidence);
  e.verdict = verdict(e.evidence);
  e.prediction.emplace();
  e.prediction->time_ms = times * e.evidence.resources.front().ms;
  e.rest = {{"launching", 1}};
  return e;
}

TEST(PlainAdvice, FactorsAreWholeFromTenUp) {
  EXPECT_TRUE(has(render_launch(explained(2.25)), "That is 2.2 times the bound"));
  EXPECT_TRUE(has(render_launch(explained(221.4)), "That is 221 times the bound"));
  EXPECT_TRUE(has(render_launch(explained(5908)), "That is 5,908 times the bound"));
}

TEST(PlainAdvice, ALineOfSeveralFormsSaysSo) {
  const std::string text = render_launch(explained(1));
  EXPECT_TRUE(has(text, "2 instructions of the PTX, most often add.s32")) << text;
}

}  // namespace
}  // namespace tessera::lab
