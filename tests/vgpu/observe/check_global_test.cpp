// Threads of several CTAs that share global memory, and memory that nobody has written.
#include "tests/vgpu/observe/checked.h"

namespace tessera::vgpu {
namespace {

Findings check_grid(const std::string& body, std::uint32_t grid = 4, std::uint32_t block = 32,
                    int host_threads = 1) {
  const std::string places = R"(
    mov.u32 r0, %tid.x;
    mov.u32 r1, %ctaid.x;
    mov.u32 r2, %ntid.x;
    mad.lo.u32 r3, r1, r2, r0;
    mul.wide.u32 d0, r3, 4;
    add.u64 d0, d0, data;
  )";  // d0: a word for each thread of the grid
  return check(places + body, threads(block, grid), ".shared .align 16 .b8 tile[16];\n",
               host_threads);
}

TEST(CheckGlobal, CtasMayReadTheSame) {
  expect_clean(check_grid("ld.global.u32 r4, [data];\n st.global.u32 [d0+8192], r4;"));
}

TEST(CheckGlobal, CtasMayNotWriteTheSame) {
  expect_found(check_grid("st.global.u32 [data], 1;"), "race", "st.global.u32");
  const std::string one_lane = "setp.eq.u32 p, r0, 0;\n";
  const Findings findings = check_grid(one_lane + "@p st.global.u32 [data], 1;");
  expect_found(findings, "race", "st.global.u32");
  EXPECT_EQ(findings.size(), 1u) << text_of(findings);
  EXPECT_NE(findings[0].places[0].cta, findings[0].places[1].cta);
}

// Whichever of the two comes first.
TEST(CheckGlobal, OneReadsWhatAnotherWrites) {
  const std::string one_lane = "setp.eq.u32 p, r0, 0;\n setp.eq.and.u32 p, r1, 0, p;\n";
  expect_found(check_grid(one_lane + "@p st.global.u32 [data], 1;\n ld.global.u32 r4, [data];"),
               "race", "ld.global.u32");
  const std::string last = "setp.eq.u32 p, r0, 0;\n setp.eq.and.u32 p, r1, 3, p;\n";
  expect_found(check_grid(last + "ld.global.u32 r4, [data];\n @p st.global.u32 [data], 1;"), "race",
               "st.global.u32");
}

// The same lanes' words are in one warp: a read by the next lane counts after one by the own.
TEST(CheckGlobal, EveryLanesReadCountsBeforeAStore) {
  const std::string next = "xor.b32 r3, r3, 1;\n mul.wide.u32 d1, r3, 4;\n add.u64 d1, d1, data;\n";
  const std::string others = "ld.global.u32 r4, [d1];\n", own = "ld.global.u32 r5, [d0];\n";
  const std::string all = "ld.global.u32 r6, [data];\n", store = "st.global.u32 [d0], r0;";
  for (const std::string& reads : {others, others + own, own + others, all + own}) {
    SCOPED_TRACE(reads);
    expect_found(check_grid(next + reads + store, 1), "lockstep", "st.global.u32",
                 Severity::kLockstep);
    expect_clean(check_grid(next + reads + "bar.warp.sync -1;\n" + store, 1));
  }
  // What another warp reads is not forgotten for it.
  std::string reads;
  for (const char* thread : {"0", "33", "32"}) {
    reads += std::string("setp.eq.u32 q, r0, ") + thread + ";\n @q ld.global.u32 r5, [data];\n";
  }
  expect_found(check_grid(reads + "@q st.global.u32 [data], r0;", 1, 64), "race", "st.global.u32");
}

TEST(CheckGlobal, WithinACtaABarrierOrders) {
  const std::string store = "st.global.u32 [d0], r0;\n";
  const std::string load =
      "xor.b32 r3, r3, 32;\n mul.wide.u32 d1, r3, 4;\n add.u64 d1, d1, data;\n"
      "ld.global.u32 r4, [d1];";
  expect_found(check_grid(store + load, 2, 64), "race", "ld.global.u32");
  expect_clean(check_grid(store + "bar.sync 0;\n" + load, 2, 64));
}

// An access of scope .cta is atomic for its own CTA alone.
TEST(CheckGlobal, AtomicsRaceWhereTheirScopeIsTooNarrow) {
  expect_clean(check_grid("red.relaxed.cta.global.add.u32 [data], 1;", 1, 64));
  const Findings findings = check_grid("red.relaxed.cta.global.add.u32 [data], 1;");
  expect_found(findings, "race", "red.relaxed.cta.global.add.u32");
  EXPECT_NE(text_of(findings).find("name a scope that holds both CTAs"), std::string::npos);
  expect_found(check_grid("red.relaxed.cluster.global.add.u32 [data], 1;"), "race",
               "red.relaxed.cluster.global.add.u32");
  expect_clean(check_grid("red.relaxed.gpu.global.add.u32 [data], 1;"));
  expect_found(check_grid("st.relaxed.cta.global.u32 [data], 1;"), "race",
               "st.relaxed.cta.global.u32");
  expect_clean(check_grid("st.relaxed.sys.global.u32 [data], 1;"));
}

TEST(CheckGlobal, AtomicsDoNotRace) {
  expect_clean(check_grid("red.global.add.u32 [data], 1;"));
  expect_clean(check_grid("red.global.add.u32 [data], 1;", 64, 64, 2));
  // Another CTA adds what this one has read.
  expect_found(check_grid("red.global.add.u32 [data], 1;\n ld.global.u32 r4, [data];"), "race",
               "red.global.add.u32");
}

// One CTA stores what all of them then add to.
TEST(CheckGlobal, AnAtomicDoesNotHideTheStoreBeforeIt) {
  const std::string store_and_add =
      "setp.eq.u32 p, r1, 0;\n @p st.global.u32 [data], r1;\n red.global.add.u32 [data], 1;";
  expect_found(check_grid(store_and_add), "race", "red.global.add.u32");
  expect_clean(check_grid("setp.eq.u32 p, r1, 0;\n red.global.add.u32 [data], 1;"));
}

// CTA after CTA adds to one sum: a semaphore holds the turn.
std::string in_turns(const std::string& wait, const std::string& give) {
  return R"(
    setp.ne.u32 p, r0, 0;
    @p bra END;
    WAIT: )" +
         wait + R"(
    setp.ne.u32 q, r4, r1;
    @q bra WAIT;
    ld.global.u32 r5, [data+64];
    add.u32 r5, r5, 1;
    st.global.u32 [data+64], r5;
    add.u32 r6, r1, 1;
  )" + give +
         "\n END:";
}

TEST(CheckHandover, ASemaphoreOrders) {
  const std::string acquire = "ld.acquire.gpu.global.u32 r4, [data];",
                    release = "st.release.gpu.global.u32 [data], r6;";
  expect_clean(check_grid(in_turns(acquire, release)));
  expect_clean(check_grid(in_turns(acquire, release), 16, 32, 2));
  const std::string relaxed_load = "ld.relaxed.gpu.global.u32 r4, [data];",
                    relaxed_store = "st.relaxed.gpu.global.u32 [data], r6;";
  expect_clean(check_grid(
      in_turns(relaxed_load + "\n fence.acq_rel.gpu;", "fence.acq_rel.gpu;\n" + relaxed_store)));
  expect_found(check_grid(in_turns(acquire, relaxed_store)), "race", "ld.global.u32");
  expect_found(check_grid(in_turns(relaxed_load, release)), "race", "ld.global.u32");
  // A fence for the CTA does not reach the others.
  expect_found(check_grid(in_turns(acquire, "fence.acq_rel.cta;\n" + relaxed_store)), "race",
               "ld.global.u32");
}

TEST(CheckHandover, AVolatileFlagIsRelaxed) {
  const std::string load = "ld.volatile.global.u32 r4, [data];",
                    store = "st.volatile.global.u32 [data], r6;";
  expect_clean(check_grid(in_turns(load + "\n membar.gl;", "membar.gl;\n" + store)));
  expect_found(check_grid(in_turns(load + "\n membar.gl;", store)), "race", "ld.global.u32");
  expect_found(check_grid(in_turns(load, "membar.gl;\n" + store)), "race", "ld.global.u32");
}

// Each CTA leaves its part; the last one to come adds them up.
std::string last_adds_up(const std::string& fence) {
  return R"(
    setp.eq.u32 p, r0, 0;
    mul.wide.u32 d1, r1, 4;
    add.u64 d1, d1, data;
    @p st.global.u32 [d1+64], r1;
  )" + fence +
         R"(
    @p atom.global.inc.u32 r4, [data], 3;
    @p st.shared.u32 [tile], r4;
    bar.sync 0;
    ld.shared.u32 r5, [tile];
    setp.ne.u32 q, r5, 3;
    @q bra END;
    ld.global.v4.u32 {r6, r7, r8, r9}, [data+64];
    END:
  )";
}

TEST(CheckHandover, TheLastCtaMayReadAll) {
  expect_clean(check_grid(last_adds_up("membar.gl;"), 4, 64));
  expect_clean(check_grid(last_adds_up("membar.gl;"), 4, 64, 2));
  expect_found(check_grid(last_adds_up(""), 4, 64), "race", "ld.global.v4.u32");
}

// All threads write, a barrier, one of them fences for all.
TEST(CheckHandover, AFenceSpeaksForWhatABarrierHasHandedOver) {
  expect_clean(check_grid(R"(
    st.global.u32 [d0+64], r0;
    bar.sync 0;
    setp.eq.u32 p, r0, 0;
    @p membar.gl;
    @p atom.global.inc.u32 r4, [data], 3;
    @p st.shared.u32 [tile], r4;
    bar.sync 0;
    ld.shared.u32 r5, [tile];
    setp.ne.u32 q, r5, 3;
    @q bra END;
    xor.b32 r3, r3, 32;
    mul.wide.u32 d1, r3, 4;
    add.u64 d1, d1, data;
    ld.global.u32 r6, [d1+64];
    END:)",
                          4, 64));
}

// ---- memory that nobody has written -------------------------------------------------------------

struct Allocation {
  Machine machine{checking()};
  std::uint64_t address = machine.allocate(1024);

  Findings launch(const std::string& body) {
    const auto program = machine.load(kernel_text(body));
    std::vector<std::byte> params(sizeof address);
    std::memcpy(params.data(), &address, sizeof address);
    return machine.launch(*program, "test", threads(1), params).findings;
  }
};

TEST(CheckInitialisation, OfGlobalMemory) {
  Allocation memory;
  expect_found(memory.launch("ld.global.u32 r0, [data];"), "uninitialised-global-read",
               "ld.global.u32");
  // What a kernel has written stays written.
  expect_clean(memory.launch("st.global.u32 [data], 1;"));
  expect_clean(memory.launch("ld.global.u32 r0, [data];"));
  expect_found(memory.launch("ld.global.v2.u32 {r0, r1}, [data];"), "uninitialised-global-read",
               "ld.global.v2.u32");
}

TEST(CheckInitialisation, TheHostWritesByteByByte) {
  Allocation memory;
  const std::uint32_t word = 1;
  memory.machine.write(memory.address + 16, &word, 3);
  expect_clean(memory.launch("ld.global.u8 r0, [data+18];"));
  expect_found(memory.launch("ld.global.u8 r0, [data+19];"), "uninitialised-global-read",
               "ld.global.u8");
  expect_found(memory.launch("ld.global.u32 r0, [data+16];"), "uninitialised-global-read",
               "ld.global.u32");
  memory.machine.write(memory.address + 19, &word, 1);
  expect_clean(memory.launch("ld.global.u32 r0, [data+16];"));
}

// The words that a launch without checks wrote are unknown, so later reads are not reported.
TEST(CheckInitialisation, AfterALaunchWithoutChecks) {
  Allocation memory;
  memory.machine.observe({});
  memory.launch("st.global.u32 [data], 1;");
  memory.machine.observe({.checks = true});
  expect_clean(memory.launch("ld.global.u32 r0, [data];"));
}

TEST(CheckInitialisation, OfRegisters) {
  const auto find = [](const std::string& body) { return check(body, threads(32)); };
  expect_found(find("add.u32 r1, r0, 1;"), "uninitialised-register-read", "add.u32");
  expect_clean(find("mov.u32 r0, 1;\n add.u32 r1, r0, 1;"));
  // A copy is not a use, but passes it on.
  expect_found(find("mov.u32 r1, r0;\n add.u32 r2, r1, 1;"), "uninitialised-register-read",
               "add.u32");
  // Written on one way only: no more than a suspicion.
  expect_clean(
      find("mov.u32 r1, %tid.x;\n setp.eq.u32 p, r1, 0;\n @p mov.u32 r0, 1;\n"
           "add.u32 r2, r0, 1;"));
  // A sum over a loop that never got its first value.
  const std::string loop =
      "L: add.u32 r0, r0, 1;\n add.u32 r1, r1, 1;\n setp.lt.u32 p, r1, 4;\n"
      "@p bra L;";
  expect_found(find("mov.u32 r1, 0;\n" + loop), "uninitialised-register-read", "add.u32");
  expect_clean(find("mov.u32 r0, 0;\n mov.u32 r1, 0;\n" + loop));
  // Two of them, each in a block of its own.
  const Findings both = find(
      "sub.u32 r3, r2, 1;\n setp.eq.u32 p, r3, 7;\n @p bra L;\n mov.u32 r4, 1;\n"
      "L: add.u32 r1, r0, 1;");
  expect_found(both, "uninitialised-register-read", "sub.u32");
  expect_found(both, "uninitialised-register-read", "add.u32");
}

}  // namespace
}  // namespace tessera::vgpu
