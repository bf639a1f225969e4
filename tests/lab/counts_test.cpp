#include "lab/counts.h"

#include <gtest/gtest.h>

namespace tessera::lab {
namespace {

void expect_class(const char* form, FormKind kind, FormSpace space, int bytes) {
  const FormClass got = classify(form);
  EXPECT_EQ(static_cast<int>(got.kind), static_cast<int>(kind)) << form;
  EXPECT_EQ(static_cast<int>(got.space), static_cast<int>(space)) << form;
  EXPECT_EQ(got.bytes, bytes) << form;
}

TEST(Counts, FormsAreClassified) {
  expect_class("ld.global.f32", FormKind::kLoad, FormSpace::kGlobal, 4);
  expect_class("ld.global.nc.v4.f32", FormKind::kLoad, FormSpace::kGlobal, 16);
  expect_class("ld.volatile.shared.f32", FormKind::kLoad, FormSpace::kShared, 4);
  expect_class("ld.shared::cta.v2.b64", FormKind::kLoad, FormSpace::kShared, 16);
  expect_class("ld.shared.u8", FormKind::kLoad, FormSpace::kShared, 1);
  expect_class("st.global.v4.f32", FormKind::kStore, FormSpace::kGlobal, 16);
  expect_class("st.shared.f64", FormKind::kStore, FormSpace::kShared, 8);
  expect_class("ld.param.u64", FormKind::kLoad, FormSpace::kOther, 8);
  expect_class("ld.f32", FormKind::kLoad, FormSpace::kNone, 4);
  expect_class("fma.rn.f32", FormKind::kFma, FormSpace::kNone, 0);
  expect_class("fma.rn.f64", FormKind::kFma, FormSpace::kNone, 0);
  expect_class("bar.sync", FormKind::kBarrier, FormSpace::kNone, 0);
  expect_class("barrier.sync.aligned", FormKind::kBarrier, FormSpace::kNone, 0);
  expect_class("mad.lo.s32", FormKind::kOther, FormSpace::kNone, 0);
  expect_class("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", FormKind::kMatrix,
               FormSpace::kNone, 0);
  expect_class("wmma.load.a.sync.aligned.row.m8n8k4.shared.f64", FormKind::kLoad,
               FormSpace::kShared, 8);
  expect_class("wmma.load.c.sync.aligned.row.m8n8k4.global.f64", FormKind::kLoad,
               FormSpace::kGlobal, 16);
  expect_class("wmma.store.d.sync.aligned.row.m8n8k4.global.f64", FormKind::kStore,
               FormSpace::kGlobal, 16);
}

TEST(Counts, LaunchesAreSummed) {
  LaunchCounts one;
  one.instructions = {{"fma.rn.f32", 10, 4, 128},   {"fma.rn.f32", 11, 4, 100},
                      {"ld.shared.f32", 12, 2, 64}, {"ld.shared.v4.f32", 13, 1, 32},
                      {"ld.global.f32", 14, 3, 90}, {"st.global.f32", 15, 1, 30},
                      {"bar.sync", 16, 2, 64},      {"ld.param.u64", 17, 2, 64}};
  one.warp_instructions = 20;
  one.lane_instructions = 600;
  one.host_seconds = 0.5;
  one.approximate_forms = {"ex2.approx.f32"};
  const CountSummary sum = summarize({one, one});
  EXPECT_EQ(sum.launches, 2);
  EXPECT_EQ(sum.total.warp, 40u);
  EXPECT_EQ(sum.total.thread, 1200u);
  EXPECT_EQ(sum.fma.thread, 456u);
  EXPECT_EQ(sum.shared_loads.at(4).thread, 128u);
  EXPECT_EQ(sum.shared_loads.at(16).warp, 2u);
  EXPECT_EQ(sum.global_loads.at(4).thread, 180u);
  EXPECT_EQ(sum.global_stores.at(4).thread, 60u);
  EXPECT_EQ(sum.barrier.warp, 4u);
  EXPECT_TRUE(sum.shared_stores.empty());
  EXPECT_TRUE(sum.other_accesses.empty());  // parameters are no traffic
  EXPECT_DOUBLE_EQ(sum.fma_per_shared_load(), 456.0 / 192.0);
  EXPECT_DOUBLE_EQ(sum.host_seconds, 1.0);
  EXPECT_EQ(sum.approximate_forms, std::vector<std::string>{"ex2.approx.f32"});
}

TEST(Counts, WithoutSharedLoadsThereIsNoRatio) {
  EXPECT_EQ(summarize(std::vector<LaunchCounts>{}).fma_per_shared_load(), 0);
}

}  // namespace
}  // namespace tessera::lab
