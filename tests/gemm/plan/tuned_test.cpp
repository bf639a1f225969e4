// The user's overlay outranks the cost model, where what it names is possible.
#include "gemm/plan/tuned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "gemm/overlay/call_text.h"
#include "gemm/overlay/overlay.h"

namespace tessera::gemm {
namespace {

constexpr DeviceLimits kH100{.sm = 90, .sms = 132, .l2_bytes = 50 << 20, .costs = &kH100Costs};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// An overlay with one entry: a plan for a call.
Overlay overlay_for_call(const CallToPlan& call, const std::string& plan) {
  Overlay overlay{"the file", {}, {}, {}};
  overlay.entries[key_of(call)] = {plan, 8.1, 9.3};
  return overlay;
}

DeviceLimits with(const Overlay& overlay) {
  DeviceLimits limits = kH100;
  limits.overlay = &overlay;
  return limits;
}

Plan plan_of_call(const CallToPlan& call, const DeviceLimits& limits, PlanOptions options = {}) {
  options.workspace_limit = call.workspace_limit;
  return plan(call.problem, call.alignment, limits, options);
}

CallToPlan call_of_types(const Types& types, std::int64_t m = 1000, std::int64_t n = 600,
                         std::int64_t k = 512) {
  return {with_default_ld({m, n, k, types}), {}, kAnyWorkspace};
}

void expect_same_steps(const Plan& one, const Plan& other) {
  ASSERT_EQ(one.steps.size(), other.steps.size());
  for (std::size_t i = 0; i < one.steps.size(); ++i) {
    EXPECT_EQ(one.steps[i].launch.entry, other.steps[i].launch.entry);
    EXPECT_TRUE(one.steps[i].launch.params == other.steps[i].launch.params)
        << one.steps[i].launch.entry;
  }
}

// Each candidate of a few problems, as if it had been the fastest.
TEST(Tuned, TheEntrysPlanIsTaken) {
  std::vector<CallToPlan> calls;
  for (const Types& types : {kF32Types, kF64Types, kTf32Types, kBf16Types, kF16Types}) {
    calls.push_back(call_of_types(types));
    calls.push_back(call_of_types(types, 777, 33, 2001));
    calls.back().workspace_limit = 64 << 20;
  }
  calls.push_back(call_of_types(kF32Types));
  calls.back().problem.batch = {BatchKind::kStrided, 5, 512000, 307200, 600000, 600000};
  calls.push_back(call_of_types(kBf16Types));
  calls.back().problem.epilogue = parse_epilogue("bias_col+gelu");
  int not_by_model = 0;
  for (const CallToPlan& call : calls) {
    const Plan by_model = plan_of_call(call, kH100);
    for (const Candidate& wanted : by_model.offers) {
      const Overlay overlay = overlay_for_call(call, wanted.name());
      const Plan tuned = plan_of_call(call, with(overlay));
      ASSERT_TRUE(tuned.tuned.is_taken()) << wanted.name() << ": " << tuned.tuned.refused;
      EXPECT_EQ(tuned.offers.front().name(), wanted.name());
      EXPECT_EQ(tuned.offers.size(), by_model.offers.size()) << "the others are kept, each once";
      EXPECT_TRUE(mentions(tuned_text(tuned), "tessera tune chose it: 8.1 us"))
          << tuned_text(tuned);
      PlanOptions named;
      named.kernel = choose_kernels(wanted.name()).front();
      expect_same_steps(tuned, plan_of_call(call, kH100, named));
      not_by_model += wanted.name() != by_model.offers.front().name() ? 1 : 0;
    }
  }
  EXPECT_GT(not_by_model, 20);
}

// An entry may hold a decision that the model does not offer.
TEST(Tuned, ADecisionThatTheModelDoesNotOfferIsPlanned) {
  const CallToPlan call = call_of_types(kF32Types, 512, 512, 4096);
  const Overlay overlay = overlay_for_call(call, "simt_f32/128x64:whole_tiles=0:runs=77");
  const Plan tuned = plan_of_call(call, with(overlay));
  ASSERT_TRUE(tuned.tuned.is_taken()) << tuned.tuned.refused;
  EXPECT_EQ(tuned.offers.front().name(), "simt_f32/128x64:whole_tiles=0:runs=77");
  EXPECT_GT(tuned.steps.size(), 1u);
}

void expect_by_model(const CallToPlan& call, const Overlay& overlay, const PlanOptions& options,
                     const std::string& said) {
  const Plan by_model = plan_of_call(call, kH100, options);
  const Plan plan = plan_of_call(call, with(overlay), options);
  EXPECT_FALSE(plan.tuned.is_taken());
  EXPECT_EQ(plan.offers.front().name(), by_model.offers.front().name());
  EXPECT_EQ(plan.offers.size(), by_model.offers.size());
  expect_same_steps(plan, by_model);
  if (said.empty()) {
    EXPECT_EQ(tuned_text(plan), "");
  } else {
    EXPECT_TRUE(mentions(tuned_text(plan), said)) << tuned_text(plan);
  }
}

TEST(Tuned, WhatIsNotPossibleIsRefusedAndSaid) {
  const CallToPlan call = call_of_types(kF32Types);
  for (const auto& [name, said] : std::vector<std::pair<std::string, std::string>>{
           {"nothing/128x64:whole", "nothing"},
           {"simt_f32/1x1:whole", "1x1"},
           {"simt_f32/128x64:sideways", "sideways"},
           {"simt_f32/128x64:warps=4", "simt_f32"},
           {"wgmma_bf16_f32/128x256:whole", "wgmma_bf16_f32"},
           {"dmma_f64/128x128:whole", "dmma_f64"},
           {"simt_f32/128x64", "not the name of one plan"},
           {"simt_f32/all:whole", "one plan"},
           {"simt_*:whole", "one plan"},
           {"all", "one plan"},
           {"02_coalesced/32x32:whole", "one plan"},
           {"simt_f32/128x64:runs=99999999999", "runs"},
           {"simt_f32/128x64:rows=0-5", "rows"},
           {"simt_f32/128x64:each", "no batch"}}) {
    expect_by_model(call, overlay_for_call(call, name), {}, "is not possible here: ");
    const Overlay overlay = overlay_for_call(call, name);
    const Plan plan = plan_of_call(call, with(overlay));
    EXPECT_TRUE(mentions(plan.tuned.refused, said)) << name << " -> " << plan.tuned.refused;
    EXPECT_EQ(plan.tuned.plan, name);
  }
}

TEST(Tuned, APlanAboveTheWorkspaceLimitIsRefused) {
  CallToPlan call = call_of_types(kF32Types, 512, 512, 4096);
  const std::string name = "simt_f32/128x64:whole_tiles=0:runs=77";
  call.workspace_limit = 1 << 20;
  const Overlay overlay = overlay_for_call(call, name);
  const Plan plan = plan_of_call(call, with(overlay));
  EXPECT_TRUE(mentions(plan.tuned.refused, "workspace_limit is 1048576")) << plan.tuned.refused;
  expect_by_model(call, overlay, {}, "workspace_limit");
}

// Where all that is fast exceeds the workspace, the model cuts a product into parts.
TEST(Tuned, OutranksAPlanInParts) {
  int found = 0;
  for (const Types& types : {kTf32Types, kBf16Types, kF32Types, kF64Types}) {
    CallToPlan call = call_of_types(types, 8191, 8191, 8191);
    const std::vector<Candidate> all = plan_of_call(call, kH100).offers;
    call.workspace_limit = 64 << 20;
    if (!plan_of_call(call, kH100).offers.front().is_in_parts) continue;
    for (const Candidate& whole : all) {
      if (whole.workspace_bytes() > call.workspace_limit) continue;
      const Overlay overlay = overlay_for_call(call, whole.name());
      const Plan tuned = plan_of_call(call, with(overlay));
      EXPECT_TRUE(tuned.tuned.is_taken()) << whole.name() << ": " << tuned.tuned.refused;
      EXPECT_EQ(tuned.offers.front().name(), whole.name());
      ++found;
    }
  }
  EXPECT_GT(found, 0);
}

TEST(Tuned, OnlyTheCallOfItsKey) {
  const CallToPlan call = call_of_types(kF32Types);
  const std::string other = plan_of_call(call, kH100).offers.back().name();
  const Overlay overlay = overlay_for_call(call, other);
  const auto expect_miss = [&](const std::function<void(CallToPlan&)>& change) {
    CallToPlan changed = call;
    change(changed);
    changed.problem = with_default_ld(changed.problem);
    expect_by_model(changed, overlay, {}, "");
  };
  expect_miss([](CallToPlan& c) { c.problem.m -= 1; });
  expect_miss([](CallToPlan& c) { c.problem.beta = 1; });
  expect_miss([](CallToPlan& c) { c.problem.order = Order::kRowMajor, c.problem.ldb = 1000; });
  expect_miss([](CallToPlan& c) { c.problem.lda = 1040; });
  expect_miss([](CallToPlan& c) { c.alignment.a = 4; });
  expect_miss([](CallToPlan& c) { c.workspace_limit = 256 << 20; });
  expect_miss([](CallToPlan& c) { c.problem.alpha = 0; });
  expect_miss([](CallToPlan& c) { c.problem.epilogue = parse_epilogue("relu"); });
}

// What a caller asks for by name or by a policy is done.
TEST(Tuned, ACallersOwnChoiceGoesFirst) {
  const CallToPlan call = call_of_types(kF32Types);
  const std::string other = plan_of_call(call, kH100).offers.back().name();
  const Overlay overlay = overlay_for_call(call, other);
  expect_by_model(call, overlay, {.kernel = choose_kernels("simt_f32/64x64").front()}, "");
  expect_by_model(call, overlay, {.split = Policy::kNever}, "");
  expect_by_model(call, overlay, {.repack = Policy::kNever}, "");
  expect_by_model(call, overlay, {.remainder = Policy::kNever}, "");
}

TEST(Tuned, ABatchThatIsOneProductSharesItsEntry) {
  CallToPlan batch = call_of_types(kF32Types, 64, 600, 512);
  batch.problem.order = Order::kRowMajor;
  batch.problem.lda = batch.problem.ldb = batch.problem.ldc = batch.problem.ldd = 0;
  batch.problem = with_default_ld(batch.problem);
  batch.problem.batch = {BatchKind::kStrided, 5, 64 * 512, 0, 64 * 600, 64 * 600};
  const Plan folded = plan_of_call(batch, kH100);
  ASSERT_TRUE(folded.is_folded());
  const std::string other = folded.offers.back().name();
  const Overlay overlay = overlay_for_call({folded.problem, {}, kAnyWorkspace}, other);
  EXPECT_EQ(plan_of_call(batch, with(overlay)).offers.front().name(), other);
}

TEST(Tuned, AnIgnoredOverlaySaysWhy) {
  const CallToPlan call = call_of_types(kF32Types);
  Overlay overlay{"the file", {}, {}, "the file is of another library"};
  expect_by_model(call, overlay, {}, "the overlay is ignored: the file is of another library");
}

TEST(Tuned, NothingToWriteIsNotLookedUp) {
  CallToPlan call = call_of_types(kF32Types, 0, 5, 5);
  const Overlay overlay = overlay_for_call(call, "simt_f32/128x64:whole");
  const Plan plan = plan_of_call(call, with(overlay));
  EXPECT_FALSE(plan.tuned.is_taken());
  EXPECT_TRUE(plan.steps.empty());
}

}  // namespace
}  // namespace tessera::gemm
