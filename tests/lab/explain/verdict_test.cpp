// Verdict and table tell one story: on made-up times of every part of a GPU.
#include <gtest/gtest.h>

#include <map>

#include "tests/lab/explain/made_sites.h"

namespace tessera::lab {
namespace {

Site atomic(const char* form, vgpu::MemoryCounts memory) {
  Site site = plain(form, 1000, 40);
  site.memory = memory;
  site.memory.traffic = vgpu::Traffic::kAtomic;
  return site;
}

Site shared_atomic() {
  vgpu::MemoryCounts memory;
  memory.shared.requests = 1000;
  memory.shared.lanes = memory.shared.same_address_lanes = 32000;
  return atomic("atom.shared.add.f32", memory);
}

Site global_atomic() {
  vgpu::MemoryCounts memory;
  memory.global.requests = memory.global.sectors = 1000;
  memory.global.lanes = memory.global.same_address_lanes = 32000;
  return atomic("red.global.add.f32", memory);
}

// A kernel that uses every part.
const std::vector<Site>& sites_of_all() {
  static const std::vector<Site> sites = {
      plain("fma.rn.f32", 1000),
      plain("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", 10),
      plain("ex2.approx.f32", 1000),
      plain("add.s32", 1000),
      plain("bar.sync", 10),
      shared_load(1000, 1),
      global_load(1000, 1),
      shared_atomic(),
      global_atomic()};
  return sites;
}

// Parts by the name of their row; the words that a verdict may call each by.
const std::map<std::string, std::pair<Resource, std::vector<std::string>>>& parts() {
  const std::vector<std::string> atomics = {"Atomics"};
  static const std::map<std::string, std::pair<Resource, std::vector<std::string>>> all = {
      {"issue slots", {Resource::kIssue, {"Issue slots"}}},
      {"FP32 pipe", {Resource::kFma, {"FP32 pipe"}}},
      {"tensor cores", {Resource::kMatrix, {"Tensor cores"}}},
      {"special function unit", {Resource::kSpecial, {"Special function unit"}}},
      {"load/store unit", {Resource::kLoadStore, {"Shared-memory accesses", "Global accesses"}}},
      {"atomics in shared memory", {Resource::kSharedAtomic, atomics}},
      {"atomics in L2", {Resource::kL2Atomic, atomics}},
      {"one sector in L2", {Resource::kHotSector, {"Atomics", "One sector in L2"}}},
      {"device memory", {Resource::kDram, {"Device memory"}}},
      {"ALU, in the replay", {Resource::kAlu, {"Integer instructions"}}},
      {"L2, in the replay", {Resource::kL2, {"L2 traffic"}}}};
  return all;
}

// `first` for 10 ms, `second` for 9, all else for less.
Evidence made_up(const std::string& first, const std::string& second) {
  Evidence e = evidence(sites_of_all());
  e.totals.written_sectors = 1;
  e.resources.clear();
  double ms = 5;
  for (const auto& [name, part] : parts()) {
    const double time = name == first ? 10 : name == second ? 9 : ms -= 0.1;
    e.resources.push_back({part.first, name, 1000, "units", time});
  }
  std::ranges::stable_sort(e.resources, std::ranges::greater{}, &ResourceUse::ms);
  return e;
}

template <class Visit>
void for_all_pairs(Visit visit) {
  for (const auto& [first, part] : parts()) {
    for (const auto& [second, other] : parts()) {
      if (first != second) visit(first, second);
    }
  }
}

bool begins_with_one_of(const std::string& text, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const auto& word) { return text.starts_with(word); });
}

// Whichever part the replay of one loop takes for the busiest.
TEST(Verdict, NamesThePartThatTheTableRanksFirst) {
  for_all_pairs([](const std::string& first, const std::string& second) {
    for (const char* busiest : {"", "ALU", "L2", "device memory"}) {
      for (const bool multiplies : {false, true}) {
        Evidence e = made_up(first, second);
        e.multiplies = multiplies;
        e.replay = {.known = *busiest != 0,
                    .waits = true,
                    .ms = 12,
                    .predicted_ms = 12,
                    .busiest = busiest,
                    .busy_ms = 9};
        const std::string text = verdict(e);
        EXPECT_TRUE(begins_with_one_of(text, parts().at(first).second))
            << first << ", then " << second << "; replay " << busiest << ": " << text;
        ASSERT_FALSE(by_cost(e).empty()) << first;
        EXPECT_GT(use_of(by_cost(e).front(), e.resources.front().resource), 0) << first;
      }
    }
  });
}

TEST(Verdict, AWaitingKernelsBusiestPartIsTheFirstOfTheTable) {
  for_all_pairs([](const std::string& first, const std::string& second) {
    if (parts().at(first).second.front() == "Atomics") return;
    Evidence e = made_up(first, second);
    e.replay = {.known = true,
                .waits = true,
                .ms = 20,
                .predicted_ms = 25,
                .busiest = second,
                .busy_ms = 9};
    EXPECT_EQ(limited_by(e), "waiting") << first;
    EXPECT_NE(verdict(e).find("(" + first + ") works only 40 % of the predicted time"),
              std::string::npos)
        << verdict(e);
  });
}

// A kernel that waits on an SM with so many warps of 64, its busiest part so much of the time.
std::string waiting(int warps, double share, const char* rest = "latencies and barriers") {
  Evidence e = made_up("issue slots", "device memory");
  e.placement = {.ctas = 2, .warps = warps, .max_warps = 64, .limited_by = "registers"};
  e.placement.threads = 32 * warps / 2;
  e.replay = {.known = true,
              .waits = true,
              .ms = 10 / share,
              .predicted_ms = 10 / share,
              .rest = {{rest, 5}, {"launching", 1}}};
  EXPECT_EQ(fires(e, "few-warps"),
            verdict(e).find("too few warps") != std::string::npos || warps <= 16)
      << verdict(e);
  return verdict(e);
}

TEST(Verdict, WarpsAreTooFewOnlyWhereMoreFitAndWouldHelp) {
  const auto are_few = [](const std::string& text) {
    return text.find("too few warps hide") != std::string::npos;
  };
  EXPECT_FALSE(are_few(waiting(64, 0.3))) << "an SM has no more";
  EXPECT_NE(
      waiting(64, 0.3).find("latencies and barriers that 64 of 64 warps on an SM do not hide"),
      std::string::npos)
      << waiting(64, 0.3);
  EXPECT_FALSE(are_few(waiting(60, 0.3))) << "an SM has few more";
  EXPECT_TRUE(are_few(waiting(48, 0.6))) << "80 % of the time needs all 64";
  EXPECT_TRUE(are_few(waiting(32, 0.3))) << "80 % needs all 64";
  EXPECT_FALSE(are_few(waiting(32, 0.75))) << "80 % needs 34";
  EXPECT_TRUE(are_few(waiting(8, 0.4)));
  EXPECT_NE(waiting(8, 0.4).find("(8 of 64 on an SM)"), std::string::npos) << waiting(8, 0.4);
}

TEST(Verdict, WaitingIsForTheLargestOfTheRest) {
  const std::string text = waiting(8, 0.4, "filling and draining the SMs");
  EXPECT_NE(text.find("most of the rest is filling and draining the SMs."), std::string::npos);
  EXPECT_EQ(text.find("latencies"), std::string::npos) << text;
}

TEST(Verdict, BlocksThatAreTooShortHaveARemedy) {
  Evidence e = made_up("issue slots", "device memory");
  e.placement = {.ctas = 8, .warps = 64, .max_warps = 64, .grid = 4096, .sms = 132};
  e.replay = {.known = true,
              .waits = true,
              .ms = 20,
              .predicted_ms = 25,
              .rest = {{"filling and draining the SMs", 15}}};
  const std::vector<Advice> list = advise(e);
  const Advice* advice = find(list, "short-blocks");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->sentence,
            "4,096 blocks come 1,056 at a time, and filling and draining the SMs "
            "takes 60 % of the predicted time.");
  e.replay.rest.front().name = "latencies and barriers";
  EXPECT_FALSE(fires(e, "short-blocks"));
}

}  // namespace
}  // namespace tessera::lab
