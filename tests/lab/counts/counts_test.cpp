#include "lab/counts/counts.h"

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

// __syncwarp is no barrier of the block.
TEST(Counts, AWarpsBarrierIsNotTheBlocks) {
  LaunchCounts one;
  one.instructions = {
      {"bar.warp.sync", 10, 4, 128}, {"bar.sync", 11, 2, 64}, {"barrier.sync.aligned", 12, 1, 32}};
  EXPECT_EQ(summarize({one}).barrier.warp, 3u);
  EXPECT_EQ(class_of("bar.warp.sync"), InstructionClass::kWarp);
}

// Loads through generic addresses are known where memory was counted.
TEST(Counts, FmasPerSharedLoadCountLoadsWhereTheirAddressesLie) {
  LaunchCounts one;
  one.instructions = {{"fma.rn.f32", 10, 4, 128}, {"ld.f32", 11, 2, 64}};
  EXPECT_EQ(summarize({one}).fma_per_shared_load(), 0);
  one.memory.counted = true;
  one.memory.loads.shared.lanes = 64;
  EXPECT_DOUBLE_EQ(summarize({one}).fma_per_shared_load(), 2);
}

// The FMAs of an epilogue say nothing about the loads that feed tensor cores.
TEST(Counts, TensorCoresHaveNoFmasPerSharedLoad) {
  LaunchCounts one;
  one.instructions = {{"fma.rn.f64", 10, 4, 128},
                      {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 11, 4, 128},
                      {"ld.shared.f64", 12, 2, 64}};
  EXPECT_EQ(summarize({one}).fma_per_shared_load(), 0);
  EXPECT_EQ(summarize({one}).useful_fmas(), 0);
}

TEST(Counts, FormsHaveAClass) {
  using Class = InstructionClass;
  const std::pair<const char*, Class> rows[] = {
      {"fma.rn.f32", Class::kFmaF32},
      {"fma.rn.f64", Class::kFmaF64},
      {"fma.rn.f16x2", Class::kFmaHalf},
      {"mul.f32", Class::kFloat},
      {"mad.lo.s32", Class::kInteger},
      {"mul.wide.u32", Class::kInteger},
      {"shl.b64", Class::kInteger},
      {"setp.lt.s32", Class::kCompare},
      {"mov.f32", Class::kMove},
      {"mov.u32", Class::kMove},
      {"cvta.to.global.u64", Class::kConvert},
      {"cvt.rn.f32.s32", Class::kConvert},
      {"rcp.approx.ftz.f32", Class::kSpecial},
      {"ld.global.nc.v4.f32", Class::kGlobalLoad},
      {"st.shared.v4.f32", Class::kSharedStore},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", Class::kSharedLoad},
      {"ld.param.u64", Class::kOtherAccess},
      {"atom.global.add.u32", Class::kAtomic},
      {"cp.async.cg.shared.global", Class::kCopy},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", Class::kCopy},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Class::kMatrix},
      {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", Class::kMatrix},
      {"wgmma.wait_group.sync.aligned", Class::kBarrier},
      {"bar.sync", Class::kBarrier},
      {"mbarrier.try_wait.parity.shared::cta.b64", Class::kBarrier},
      {"shfl.sync.bfly.b32", Class::kWarp},
      {"bra.uni", Class::kControl},
      {"setmaxnreg.inc.sync.aligned.u32", Class::kOther}};
  for (const auto& [form, kind] : rows) EXPECT_EQ(class_of(form), kind) << form;
  EXPECT_EQ(name_of(Class::kFmaF32), "fma f32");
  EXPECT_EQ(name_of(Class::kOther), "other");
}

LaunchCounts with_memory() {
  LaunchCounts one;
  InstructionCount load{"ld.global.f32", 10, 4, 128, "kernel.cu", 7};
  load.memory.traffic = vgpu::Traffic::kLoad;
  load.memory.global = {4, 128, 512, 512, 128, 0, 128, 32, 32};
  InstructionCount read{"ld.shared.f32", 11, 4, 128, "kernel.cu", 8};
  read.memory.traffic = vgpu::Traffic::kLoad;
  read.memory.shared = {4, 128, 512, {4, 128}, {4, 128}};
  InstructionCount fma{"fma.rn.f32", 12, 8, 256, "kernel.cu", 7};
  one.instructions = {load, read, fma};
  one.memory.counted = true;
  one.memory.loads += load.memory;
  one.memory.loads += read.memory;
  one.memory.footprint = {true, false, 16, 4};
  one.sample = {4, 4};
  one.resources.threads = 128;
  one.warp_instructions = 16;
  return one;
}

TEST(Counts, MemoryIsSummedAndIntensitiesHaveThreeDenominators) {
  const CountSummary sum = summarize({with_memory(), with_memory()});
  EXPECT_TRUE(sum.memory.counted);
  EXPECT_EQ(sum.memory.loads.global.sectors, 256u);
  EXPECT_EQ(sum.memory.loads.shared.plain.excess(), 248u);
  EXPECT_EQ(sum.flop, 1024u);
  EXPECT_DOUBLE_EQ(sum.flop_per_byte().requested, 1.0);
  EXPECT_DOUBLE_EQ(sum.flop_per_byte().sector, 1024.0 / (256 * 32));
  EXPECT_DOUBLE_EQ(sum.flop_per_byte().footprint, 1024.0 / (2 * 20 * 32));
  EXPECT_EQ(sum.mix.at(InstructionClass::kFmaF32).warp, 16u);
  EXPECT_EQ(sum.resources.threads, 128u);
  EXPECT_FALSE(sum.is_sample());
}

TEST(Counts, LinesComeByTheirCost) {
  const CountSummary sum = summarize({with_memory()});
  ASSERT_EQ(sum.lines.size(), 2u);
  EXPECT_EQ(sum.lines[0].line, 8);
  EXPECT_EQ(sum.lines[0].cost(), 4u + 124);
  EXPECT_EQ(sum.lines[1].line, 7);
  EXPECT_EQ(sum.lines[1].cost(), 12u + 28);
}

TEST(Counts, WhatOneLaunchDidNotCountIsUnknownOfAll) {
  LaunchCounts blind = with_memory();
  blind.memory = {};
  EXPECT_FALSE(summarize({with_memory(), blind}).memory.counted);
  EXPECT_EQ(summarize({with_memory(), blind}).flop_per_byte().footprint, 0);
}

TEST(Counts, MatrixProductsCountTheirFlop) {
  LaunchCounts one;
  one.instructions = {{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 1, 3, 96},
                      {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", 2, 4, 128},
                      {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", 3, 1, 32},
                      {"fma.rn.f16x2", 4, 1, 32}};
  EXPECT_EQ(summarize({one}).flop,
            3u * 2 * 16 * 8 * 16 + 2 * 64 * 128 * 16 + 2 * 8 * 8 * 4 + 4 * 32);
}

TEST(Counts, WithoutSharedLoadsThereIsNoRatio) {
  EXPECT_EQ(summarize(std::vector<LaunchCounts>{}).fma_per_shared_load(), 0);
}

}  // namespace
}  // namespace tessera::lab
