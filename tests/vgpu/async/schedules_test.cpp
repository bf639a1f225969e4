// Asynchronous copies with both schedules: what is awaited comes out the same, a missing wait shows
// when copies happen late.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

MachineOptions with(AsyncSchedule schedule, std::uint64_t seed = 0) {
  MachineOptions options;
  options.observation.schedule = schedule;
  options.observation.warp_order_seed = seed;
  return options;
}

// Copies word i + 32 to shared memory, waits as told, and stores what it finds as word i.
std::string copy_kernel(const std::string& wait) {
  return kernel_text(R"(
    .shared .align 16 .b8 cells[128];
    mov.u32 r0, %tid.x;
    mad.wide.u32 d0, r0, 4, data;
    mov.u32 r1, cells;
    mad.lo.u32 r1, r0, 4, r1;
    st.shared.u32 [r1], 0;
    cp.async.ca.shared.global [r1], [d0+128], 4;
    cp.async.commit_group;
  )" + wait + R"(
    ld.shared.u32 r2, [r1];
    st.global.u32 [d0], r2;)");
}

std::vector<std::uint32_t> counting() {
  std::vector<std::uint32_t> words(64);
  for (std::uint32_t i = 0; i < 64; ++i) words[i] = 1000 + i;
  return words;
}

TEST(Schedules, AwaitedCopiesAreThere) {
  for (const auto schedule : {AsyncSchedule::kEager, AsyncSchedule::kLazy}) {
    const auto ran =
        run_text(copy_kernel("cp.async.wait_group 0;"), counting(), threads(32), with(schedule));
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], 1032 + i);
  }
}

TEST(Schedules, AMissingWaitShowsWithTheLazyOne) {
  const auto ran = run_text(copy_kernel("cp.async.wait_group 1;"), counting(), threads(32),
                            with(AsyncSchedule::kLazy));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], 0u);
}

const char* const kMbarrier = R"(
  .shared .align 8 .b64 object;
  mov.u32 r0, %tid.x;
  mov.u32 r1, object;
  setp.ne.u32 p, r0, 0;
)";

// A poll with a count, of an object at which nobody arrives, in a kernel of two warps.
std::string counted_poll(const std::string& attempts, const std::string& wait = "test_wait") {
  return kernel_text(R"(
    .shared .align 8 .b64 object;
    mov.u32 r1, object;
    mov.u32 r2, %tid.x;
    setp.eq.u32 p, r2, 0;
    @p mbarrier.init.shared.b64 [r1], 2;
    bar.sync 0;
    mov.u32 r0, 0;
    WAIT:
    mbarrier.)" + wait +
                     R"(.parity.shared.b64 q, [r1], 0;
    add.u32 r0, r0, 1;
    @q bra END;
    )" + attempts + R"(
    @p bra WAIT;
    END:
    mad.wide.u32 d0, r2, 4, data;
    st.global.u32 [d0], r0;)");
}

TEST(Mbarriers, APollThatGivesUpIsNoDeadlock) {
  for (const char* wait : {"test_wait", "try_wait"}) {
    for (const std::uint32_t attempts : {10u, 20000u, 500000u}) {
      const std::string bound = "setp.lt.u32 p, r0, " + std::to_string(attempts) + ";";
      for (const std::uint64_t seed : {0, 1}) {
        const auto ran = run_text(counted_poll(bound, wait), std::vector<std::uint32_t>(64),
                                  threads(64), with(AsyncSchedule::kEager, seed));
        EXPECT_EQ(ran.words[0], attempts) << wait;
        EXPECT_EQ(ran.words[63], attempts) << wait;
      }
    }
  }
}
// One warp gives up, and does what the other waits for.
TEST(Mbarriers, APollThatGivesUpMayHelpTheOthers) {
  const auto ran = run_text(kernel_text(R"(
    .shared .align 8 .b64 objects[2];
    mov.u32 r1, objects;
    mov.u32 r2, %tid.x;
    setp.eq.u32 p, r2, 0;
    @p mbarrier.init.shared.b64 [r1], 1;
    @p mbarrier.init.shared.b64 [r1+8], 1;
    bar.sync 0;
    mov.u32 r0, 0;
    setp.ge.u32 p, r2, 32;
    @p bra OTHER;
    POLL:
    mbarrier.try_wait.parity.shared.b64 q, [r1], 0;
    add.u32 r0, r0, 1;
    setp.lt.u32 p, r0, 50000;
    @p bra POLL;
    setp.eq.u32 p, r2, 0;
    @p mbarrier.arrive.shared.b64 _, [r1+8];
    bra END;
    OTHER:
    mbarrier.try_wait.parity.shared.b64 q, [r1+8], 0;
    @!q bra OTHER;
    mov.u32 r0, 7;
    END:
    mad.wide.u32 d0, r2, 4, data;
    st.global.u32 [d0], r0;)"),
                            std::vector<std::uint32_t>(64), threads(64));
  EXPECT_EQ(ran.words[0], 50000u);
  EXPECT_EQ(ran.words[40], 7u);
}
// A count that bounds nothing: the same culprit is named, after a time that does not depend on it.
TEST(Mbarriers, ACountThatEndsNothingIsADeadlock) {
  for (const char* loop : {"setp.ge.u32 p, r0, 0;", "setp.eq.u32 p, r1, r1;"}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto fault = fault_of(counted_poll(loop), 64, threads(64));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
    EXPECT_TRUE(says(fault, "deadlock: every warp waits")) << fault.what();
    EXPECT_TRUE(says(fault,
                     "offset 0 does not end its phase 0: it waits for 2 arrivals, and 0 "
                     "came"))
        << fault.what();
    EXPECT_EQ(fault.place().thread, 0);
  }
}

// The thread has looked at another object on its way, and went on without it.
TEST(Mbarriers, DeadlockIsNotToldOfAnObjectThatWasLookedAtOnce) {
  const auto fault = fault_of(kernel_text(R"(
    .shared .align 8 .b64 objects[2];
    mov.u32 r1, objects;
    mbarrier.init.shared.b64 [r1], 1;
    mbarrier.init.shared.b64 [r1+8], 2;
    mbarrier.arrive.shared.b64 _, [r1+8];
    mbarrier.test_wait.parity.shared.b64 q, [r1+8], 0;
    WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [r1], 0;
    @!q bra WAIT;)"),
                              1, threads(1));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
  EXPECT_TRUE(says(fault, "offset 0 does not end its phase 0: it waits for 1 arrival, and 0 came"))
      << fault.what();
}

TEST(Mbarriers, DeadlockShowsTheObject) {
  const auto fault = fault_of(kernel_text(std::string(kMbarrier) + R"(
    @!p mbarrier.init.shared.b64 [r1], 65;
    bar.sync 0;
    mbarrier.arrive.shared.b64 _, [r1];
    WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [r1], 0;
    @!q bra WAIT;)"),
                              1, threads(64));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
  EXPECT_TRUE(says(fault, "mbarrier at shared offset 0: phase 0, 1 of 65 arrivals"))
      << fault.what();
}

TEST(Mbarriers, MisuseIsAFault) {
  const auto fault = [](const std::string& body) {
    return fault_of(kernel_text(std::string(kMbarrier) + body), 1, threads(1));
  };
  const auto none = fault("mbarrier.arrive.shared.b64 _, [r1];");
  EXPECT_EQ(none.kind(), FaultKind::kBarrier);
  EXPECT_TRUE(says(none, "there is no mbarrier at shared offset 0")) << none.what();
  EXPECT_TRUE(says(fault("mbarrier.init.shared.b64 [r1], 0;"), "0 arrivals"));
  EXPECT_TRUE(says(fault("mbarrier.init.shared.b64 [r1], 1;\n"
                         "mbarrier.arrive.shared.b64 _, [r1], 2;"),
                   "2 arrivals at"));
  EXPECT_TRUE(says(fault("mbarrier.init.shared.b64 [r1], 1;\n"
                         "mbarrier.arrive.noComplete.shared.b64 d0, [r1], 1;"),
                   "would end the phase"));
  EXPECT_TRUE(says(fault("mbarrier.init.shared.b64 [r1+4], 1;"), "multiple of 8"));
  EXPECT_TRUE(says(fault("mbarrier.init.shared.b64 [r1], 1;\n"
                         "mbarrier.inval.shared.b64 [r1];\n"
                         "mbarrier.arrive.shared.b64 _, [r1];"),
                   "mbarrier.inval has"));
}

// What was noticed before the kernel stopped is told with the fault.
TEST(Mbarriers, FindingsSurviveADeadlock) {
  MachineOptions options;
  options.observation.checks = true;
  const auto fault = fault_of(kernel_text(std::string(kMbarrier) + R"(
    mbarrier.init.shared.b64 [r1], 1;
    mbarrier.init.shared.b64 [r1], 2;
    WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [r1], 0;
    @!q bra WAIT;)"),
                              1, threads(1), options);
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
  const auto& findings = fault.findings();
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.check == "mbarrier-init-live";
  }));
}

std::vector<std::string> checks_of(const std::string& body, const LaunchShape& shape) {
  MachineOptions options;
  options.observation.checks = true;
  std::vector<std::string> checks;
  for (const Finding& finding :
       run_text(kernel_text(body), std::vector<std::uint32_t>(256), shape, options)
           .report.findings) {
    checks.push_back(finding.check);
  }
  return checks;
}

// Bytes may come before anybody waits for them; 2^20 - 1 can be counted, both ways.
TEST(Misuse, MoreBytesThanAnMbarrierCounts) {
  const auto checks = [](const std::string& first, const std::string& second) {
    const std::string of = ".relaxed.cta.shared::cta.b64 [r1], ";
    return checks_of(std::string(kMbarrier) + "mbarrier.init.shared.b64 [r1], 1;\nmbarrier." +
                         first + of + "1048575;\nmbarrier." + second + of + "1;\n",
                     threads(1));
  };
  const std::vector<std::string> overflow = {"mbarrier-tx-overflow"};
  EXPECT_TRUE(checks("complete_tx", "expect_tx").empty());
  EXPECT_TRUE(checks("expect_tx", "complete_tx").empty());
  EXPECT_EQ(checks("complete_tx", "complete_tx"), overflow);
  EXPECT_EQ(checks("expect_tx", "expect_tx"), overflow);
}

TEST(Misuse, RegistersMovedByOneWarpOfAWarpgroup) {
  const std::string body = R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 32;
    @p bra END;
    setmaxnreg.dec.sync.aligned.u32 24;
    END:)";
  EXPECT_EQ(checks_of(body, threads(128)), std::vector<std::string>{"setmaxnreg"});
  EXPECT_TRUE(checks_of("setmaxnreg.dec.sync.aligned.u32 24;", threads(128)).empty());
}

TEST(Misuse, LanesThatNeverCome) {
  const std::string shuffle = R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 16;
    @p bra END;
    shfl.sync.bfly.b32 r1, r0, 1, 31, MASK;
    END:)";
  const auto with_mask = [&](const std::string& mask) {
    std::string text = shuffle;
    return text.replace(text.find("MASK"), 4, mask);
  };
  EXPECT_EQ(checks_of(with_mask("0xffffffff"), threads(32)),
            std::vector<std::string>{"missing-lanes"});
  EXPECT_TRUE(checks_of(with_mask("0xffff"), threads(32)).empty());
}

TEST(Misuse, LanesThatGoAroundABarrier) {
  const std::string around = R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 4;
    @p bra BEHIND;
    bar.sync 0;
    BEHIND:
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r0;)";
  EXPECT_EQ(checks_of(around, threads(32)), std::vector<std::string>{"barrier"});
  // Lanes that end before the others come there are no longer waited for.
  const std::string early = R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 4;
    @p bra END;
    bar.sync 0;
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r0;
    END:)";
  EXPECT_EQ(checks_of(early, threads(32)), std::vector<std::string>{"skipped-barrier"});
}

// A wait that is asked for a phase two phases ago by state is an error of the kernel.
TEST(Mbarriers, StateOfAnOldPhase) {
  const auto fault = fault_of(kernel_text(std::string(kMbarrier) + R"(
    mbarrier.init.shared.b64 [r1], 1;
    mbarrier.arrive.shared.b64 d0, [r1];
    mbarrier.arrive.shared.b64 _, [r1];
    mbarrier.test_wait.shared.b64 q, [r1], d0;)"),
                              1, threads(1));
  EXPECT_TRUE(says(fault, "must be this phase or the one before")) << fault.what();
}

// Warp 1 waits for the copies of warp 0: late copies happen when nobody else can run.
TEST(Mbarriers, LateCopiesArriveWhereNobodyElseCanRun) {
  const std::string text = kernel_text(R"(
    .shared .align 16 .b8 cells[128];
    .shared .align 8 .b64 object;
    mov.u32 r0, %tid.x;
    and.b32 r3, r0, 31;
    mov.u32 r1, object;
    mov.u32 r2, cells;
    mad.lo.u32 r2, r3, 4, r2;
    mad.wide.u32 d0, r3, 4, data;
    setp.ne.u32 p, r0, 0;
    @!p mbarrier.init.shared.b64 [r1], 32;
    bar.sync 0;
    setp.ge.u32 p, r0, 32;
    @p bra WAIT;
    cp.async.ca.shared.global [r2], [d0+128], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [r1];
    exit;
    WAIT:
    mbarrier.try_wait.parity.shared.b64 q, [r1], 0;
    @!q bra WAIT;
    ld.shared.u32 r4, [r2];
    st.global.u32 [d0], r4;)");
  for (const auto schedule : {AsyncSchedule::kEager, AsyncSchedule::kLazy}) {
    for (std::uint64_t seed : {0, 1, 2, 3, 4}) {
      const auto ran = run_text(text, counting(), threads(64), with(schedule, seed));
      for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], 1032 + i);
    }
  }
}

}  // namespace
}  // namespace tessera::vgpu
