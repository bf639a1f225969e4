// Counts of whole launches of small PTX kernels: what the executor tells, memoised, summed and
// marked in the footprint.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

MachineOptions counting(int host_threads = 1) {
  MachineOptions options;
  options.host_threads = host_threads;
  options.observation.memory = true;
  return options;
}

const InstructionReport& row(const LaunchReport& report, std::string_view form) {
  const auto found = std::find_if(report.instructions.begin(), report.instructions.end(),
                                  [&](const auto& r) { return r.form == form; });
  if (found == report.instructions.end()) throw std::runtime_error("it did not run");
  return *found;
}

LaunchReport count(const std::string& body, std::size_t words, const LaunchShape& shape,
                   const MachineOptions& options = counting(),
                   const std::string& declarations = "") {
  return run_text(kernel_text(body, "", declarations), std::vector<std::uint32_t>(words), shape,
                  options)
      .report;
}

const std::string kGlobalIndex = R"(
    mov.u32 r1, %ctaid.x;
    mov.u32 r2, %ntid.x;
    mov.u32 r3, %tid.x;
    mad.lo.u32 r0, r1, r2, r3;
    mad.wide.u32 d0, r0, 4, data;
)";

TEST(MemoryCounter, IsOffUnlessAskedFor) {
  const LaunchReport report =
      count(kGlobalIndex + "ld.global.u32 r4, [d0];", 32, threads(32), MachineOptions{});
  EXPECT_FALSE(report.memory.counted);
  EXPECT_EQ(row(report, "ld.global.u32").memory.global.requests, 0u);
}

TEST(MemoryCounter, CoalescedLoadsAndStores) {
  const LaunchReport report =
      count(kGlobalIndex + "ld.global.u32 r4, [d0];\nadd.u32 r4, r4, 1;\nst.global.u32 [d0], r4;",
            512, threads(64, 8));
  for (const char* form : {"ld.global.u32", "st.global.u32"}) {
    const MemoryCounts& memory = row(report, form).memory;
    EXPECT_EQ(memory.global.requests, 16u) << form;
    EXPECT_EQ(memory.global.lanes, 512u);
    EXPECT_EQ(memory.global.sectors, 64u);
    EXPECT_EQ(memory.global.lines, 16u);
    EXPECT_EQ(memory.global.requested_bytes, 2048u);
    EXPECT_EQ(memory.global.distinct_bytes, 2048u);
    EXPECT_EQ(memory.global.partial_sectors, 0u);
    EXPECT_EQ(memory.shared.requests, 0u);
  }
  EXPECT_EQ(row(report, "ld.global.u32").memory.traffic, Traffic::kLoad);
  EXPECT_EQ(row(report, "st.global.u32").memory.traffic, Traffic::kStore);
  EXPECT_TRUE(report.memory.counted);
  EXPECT_EQ(report.memory.loads.global.sectors, 64u);
  EXPECT_EQ(report.memory.stores.global.sectors, 64u);
  EXPECT_EQ(report.memory.global().sectors, 128u);
  EXPECT_TRUE(report.memory.footprint.known);
  EXPECT_FALSE(report.memory.footprint.estimated);
  EXPECT_EQ(report.memory.footprint.read_bytes(), 2048u);
  EXPECT_EQ(report.memory.footprint.written_bytes(), 2048u);
}

TEST(MemoryCounter, TheFootprintHoldsWhatAllShareOnce) {
  const LaunchReport report =
      count("ld.global.v4.u32 {r4, r5, r6, r7}, [data+64];", 32, threads(128, 100));
  EXPECT_EQ(report.memory.loads.global.requests, 400u);
  EXPECT_EQ(report.memory.loads.global.sectors, 400u);
  EXPECT_EQ(report.memory.loads.global.requested_bytes, 400u * 32 * 16);
  EXPECT_EQ(report.memory.footprint.read_sectors, 1u);
  EXPECT_EQ(report.memory.footprint.written_sectors, 0u);
}

// The base walks 4 bytes at a time: every phase of a line comes up.
TEST(MemoryCounter, AWalkThroughEveryPhase) {
  const LaunchReport report = count(R"(
    mov.u32 r3, %tid.x;
    mad.wide.u32 d0, r3, 4, data;
    mov.u32 r1, 0;
    LOOP:
    ld.global.u32 r4, [d0];
    add.u64 d0, d0, 4;
    add.u32 r1, r1, 1;
    setp.lt.u32 p, r1, 64;
    @p bra LOOP;)",
                                    128, threads(32));
  const GlobalCounts& global = row(report, "ld.global.u32").memory.global;
  // 8 of 64 begins are aligned to a sector and take 4, the others 5.
  EXPECT_EQ(global.sectors, 8u * 4 + 56 * 5);
  // 2 of 64 are aligned to a line, the others reach into a second.
  EXPECT_EQ(global.lines, 2u + 62 * 2);
  EXPECT_EQ(report.memory.footprint.read_bytes(), 384u);  // 95 words
}

TEST(MemoryCounter, GuardedLanesDoNotAsk) {
  const LaunchReport report =
      count(kGlobalIndex +
                "setp.lt.u32 p, r3, 8;\n@p ld.global.u32 r4, [d0];\nsetp.gt.u32 q, r3, 99;\n"
                "@q st.global.u32 [d0], r4;",
            32, threads(32));
  EXPECT_EQ(report.memory.loads.global.requests, 1u);
  EXPECT_EQ(report.memory.loads.global.lanes, 8u);
  EXPECT_EQ(report.memory.loads.global.sectors, 1u);
  EXPECT_EQ(report.memory.stores.global.requests, 0u);
}

TEST(MemoryCounter, SharedConflictsOfStoresAndLoads) {
  const LaunchReport report = count(R"(
    mov.u32 r3, %tid.x;
    mov.u32 r5, tile;
    mad.lo.u32 r6, r3, 128, r5;
    mad.lo.u32 r7, r3, 4, r5;
    st.shared.u32 [r6], r3;
    ld.shared.u32 r8, [r7];)",
                                    32, threads(32), counting(), ".shared .b32 tile[1024];");
  const SharedCounts& stores = report.memory.stores.shared;
  EXPECT_EQ(stores.requests, 1u);
  EXPECT_EQ(stores.plain.passes, 1u);
  EXPECT_EQ(stores.plain.wavefronts, 32u);
  EXPECT_EQ(stores.plain.excess(), 31u);
  EXPECT_EQ(stores.pair.wavefronts, 32u);
  EXPECT_EQ(report.memory.loads.shared.plain.excess(), 0u);
  EXPECT_EQ(report.memory.loads.shared.requested_bytes, 128u);
  EXPECT_EQ(report.memory.footprint.bytes(), 0u);
}

TEST(MemoryCounter, TheFirstInstructionCounts) {
  const LaunchReport report = run_text(
                                  ".version 9.0\n.target sm_90a\n.address_size 64\n"
                                  ".visible .entry test(.param .u64 words)\n{\n.shared .b32 word;\n"
                                  "st.shared.u32 [word], 7;\nret;\n}\n",
                                  std::vector<std::uint32_t>(1), threads(32), counting())
                                  .report;
  EXPECT_EQ(row(report, "st.shared.u32").memory.shared.requests, 1u);
  EXPECT_EQ(report.memory.stores.shared.requests, 1u);
}

TEST(MemoryCounter, BothBankModelsStandSideBySide) {
  const LaunchReport report =
      count(R"(
    mov.u32 r3, %tid.x;
    mov.u32 r5, tile;
    shr.u32 r6, r3, 4;
    mad.lo.u32 r6, r6, 16, r5;
    st.shared.u32 [r5], r3;
    ld.shared.v4.u32 {r8, r9, r10, r11}, [r6];)",
            32, threads(32), counting(), ".shared .align 16 .b32 tile[16];");
  EXPECT_EQ(report.memory.loads.shared.plain.wavefronts, 4u);
  EXPECT_EQ(report.memory.loads.shared.pair.wavefronts, 2u);
  EXPECT_EQ(report.memory.loads.shared.pair.excess(), 0u);
}

TEST(MemoryCounter, AtomicsAreAClassOfTheirOwn) {
  const LaunchReport report =
      count(kGlobalIndex + "atom.global.add.u32 r4, [data], 1;\nred.global.add.u32 [d0], 1;", 64,
            threads(64));
  EXPECT_EQ(report.memory.loads.global.requests, 0u);
  EXPECT_EQ(report.memory.atomics.global.requests, 4u);
  EXPECT_EQ(report.memory.atomics.global.lanes, 128u);
  EXPECT_EQ(report.memory.atomics.global.sectors, 2u * 1 + 2 * 4);
  EXPECT_EQ(report.memory.footprint.read_sectors, 8u);
  EXPECT_EQ(report.memory.footprint.written_sectors, 8u);
}

// Lane l updates word l / 8 * (l % 2): 16 odd lanes by fours, and 16 even ones at word 0 with
// lanes 1, 3, 5 and 7.
TEST(MemoryCounter, LanesOfAnAtomicAtOneAddress) {
  const std::string word = R"(
    mov.u32 r3, %tid.x;
    shr.u32 r1, r3, 3;
    and.b32 r2, r3, 1;
    mul.lo.u32 r1, r1, r2;
    shl.b32 r1, r1, 2;
    cvt.u64.u32 d1, r1;
    add.u64 d0, data, d1;
    mov.u32 r5, tile;
    add.u32 r5, r5, r1;
)";
  const LaunchReport report = count(word + R"(
    red.global.add.u32 [d0], 1;
    atom.shared.add.u32 r4, [r5], 1;
    ld.global.u32 r4, [data];)",
                                    8, threads(64), counting(), ".shared .b32 tile[8];");
  const MemoryCounts& global = row(report, "red.global.add.u32").memory;
  EXPECT_EQ(global.global.same_address_lanes, 20u + 16);  // in the second warp l / 8 is 4 to 7
  const MemoryCounts& shared = row(report, "atom.shared.add.u32").memory;
  EXPECT_EQ(shared.shared.same_address_lanes, 20u + 16);
  EXPECT_EQ(shared.global.same_address_lanes, 0u);
  EXPECT_EQ(row(report, "ld.global.u32").memory.global.same_address_lanes, 0u) << "a load";
}

TEST(MemoryCounter, GenericAddressesCountWhereTheyLie) {
  const LaunchReport report = count(R"(
    mov.u32 r3, %tid.x;
    mov.u32 r5, tile;
    cvt.u64.u32 d1, r5;
    cvta.shared.u64 d1, d1;
    mad.wide.u32 d1, r3, 4, d1;
    mad.wide.u32 d2, r3, 4, data;
    setp.lt.u32 p, r3, 8;
    selp.b64 d3, d1, d2, p;
    st.u32 [d3], r3;)",
                                    32, threads(32), counting(), ".shared .b32 tile[32];");
  const MemoryCounts& memory = row(report, "st.u32").memory;
  EXPECT_EQ(memory.shared.requests, 1u);
  EXPECT_EQ(memory.shared.lanes, 8u);
  EXPECT_EQ(memory.global.requests, 1u);
  EXPECT_EQ(memory.global.lanes, 24u);
  EXPECT_EQ(memory.global.sectors, 3u);
}

// A thread's stack lies word by word beside that of its neighbours.
TEST(MemoryCounter, LocalMemoryIsCoalescedByTheHardware) {
  const LaunchReport report =
      count(R"(
    mov.u32 r3, %tid.x;
    mov.u32 r5, stack;
    st.local.u32 [r5+4], r3;
    st.local.v4.u32 [r5+16], {r3, r3, r3, r3};
    and.b32 r6, r3, 3;
    mad.lo.u32 r6, r6, 4, r5;
    st.local.u32 [r6], r3;)",
            32, threads(32), counting(), ".local .align 16 .b32 stack[16];");
  const MemoryCounts& wide = row(report, "st.local.v4.u32").memory;
  EXPECT_EQ(wide.local.sectors, 16u);
  EXPECT_EQ(wide.local.requested_bytes, 512u);
  EXPECT_EQ(wide.global.sectors, 0u);
  EXPECT_EQ(report.memory.stores.local.requests, 3u);
  EXPECT_EQ(report.memory.stores.local.sectors, 4u + 16 + 16);
  EXPECT_EQ(report.memory.footprint.bytes(), 0u);
}

TEST(MemoryCounter, DoesNotDependOnHostThreads) {
  const std::string body = kGlobalIndex + R"(
    mul.lo.u32 r6, r1, 36;
    cvt.u64.u32 d2, r6;
    add.u64 d1, d0, d2;
    ld.global.u32 r4, [d1];
    red.global.add.u32 [data], 1;)";
  const LaunchReport one = count(body, 8192, threads(96, 64), counting(1));
  const LaunchReport two = count(body, 8192, threads(96, 64), counting(2));
  EXPECT_EQ(one.memory.loads.global.sectors, two.memory.loads.global.sectors);
  EXPECT_EQ(one.memory.loads.global.lines, two.memory.loads.global.lines);
  EXPECT_EQ(one.memory.atomics.global.sectors, two.memory.atomics.global.sectors);
  EXPECT_EQ(one.memory.footprint.read_sectors, two.memory.footprint.read_sectors);
  EXPECT_GT(one.memory.loads.global.sectors, 64u * 3 * 4);
}

TEST(MemoryCounter, CopiesOfLanesCountOnBothSides) {
  const LaunchReport report =
      count(R"(
    mov.u32 r3, %tid.x;
    mov.u32 r5, tile;
    mad.lo.u32 r6, r3, 16, r5;
    mad.wide.u32 d0, r3, 16, data;
    cp.async.cg.shared.global [r6], [d0], 16;
    cp.async.wait_all;)",
            128, threads(32), counting(), ".shared .align 16 .b32 tile[128];");
  const MemoryCounts& copies = report.memory.copies_in;
  EXPECT_EQ(copies.global.requests, 1u);
  EXPECT_EQ(copies.global.sectors, 16u);
  EXPECT_EQ(copies.shared.plain.wavefronts, 4u);
  EXPECT_EQ(report.memory.loads.global.requests, 0u);
  EXPECT_EQ(report.memory.footprint.read_bytes(), 512u);
}

// 96 bytes from 16 bytes behind a sector's begin: 4 sectors, of which the outer two in part.
TEST(MemoryCounter, BulkCopiesCountTheirGlobalSide) {
  const LaunchReport report =
      count(R"(
    mov.u32 r5, tile;
    mov.u32 r3, %tid.x;
    setp.eq.u32 p, r3, 0;
    @p cp.async.bulk.global.shared::cta.bulk_group [data+16], [r5], 96;
    @p cp.async.bulk.commit_group;
    @p cp.async.bulk.wait_group 0;)",
            128, threads(32), counting(), ".shared .align 128 .b32 tile[128];");
  const MemoryCounts& copies = report.memory.copies_out;
  EXPECT_EQ(copies.global.requests, 1u);
  EXPECT_EQ(copies.global.sectors, 4u);
  EXPECT_EQ(copies.global.partial_sectors, 2u);
  EXPECT_EQ(copies.global.requested_bytes, 96u);
  EXPECT_EQ(copies.shared.requests, 0u);
  EXPECT_EQ(report.memory.footprint.written_sectors, 4u);
}

// So many words are loaded before the first of them is used.
std::uint32_t live_registers(int words) {
  std::string body = "mov.u32 r0, 0;\n";
  for (int i = 1; i <= words; ++i) {
    body += "ld.global.u32 r" + std::to_string(i) + ", [data+" + std::to_string(4 * i) + "];\n";
  }
  for (int i = 1; i <= words; ++i) body += "add.u32 r0, r0, r" + std::to_string(i) + ";\n";
  return count(body + "st.global.u32 [data], r0;", 32, threads(32)).resources.live_registers;
}

TEST(LaunchResources, LiveRegistersAreThoseThatHoldValuesAtOnce) {
  EXPECT_EQ(live_registers(4), 4u + 2 + 1) << "words, the address and the sum";
  EXPECT_EQ(live_registers(20), 20u + 2 + 1);
}

TEST(LaunchResources, SayWhatTheLaunchTakes) {
  const LaunchReport report = count("st.shared.u32 [tile], r0;", 32, threads(96, 7, 64), counting(),
                                    ".shared .b32 tile[100];");
  EXPECT_EQ(report.resources.ctas, 7u);
  EXPECT_EQ(report.resources.ctas_per_cluster, 1u);
  EXPECT_EQ(report.resources.threads, 96u);
  EXPECT_EQ(report.resources.shared_bytes, 400u + 64);
  EXPECT_EQ(report.sample.clusters, 7u);
  EXPECT_EQ(report.sample.ran, 7u);
}

}  // namespace
}  // namespace tessera::vgpu
