// Launches that never end are found, and CTAs may wait for later ones.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

MachineOptions workers(int count) {
  MachineOptions options;
  options.host_threads = count;
  return options;
}

TEST(Endless, AnEmptyLoop) {
  const auto fault = fault_of(kernel_text("LOOP:\nbra LOOP;"), 1, threads(64));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
  EXPECT_TRUE(says(fault, "go round without an effect")) << fault.what();
}

// CTA 0 waits for a word that nobody writes.
const char* const kWaitForWord = R"(
  LOOP:
  ld.volatile.global.u32 r1, [data];
  setp.eq.u32 p, r1, 0;
  @p bra LOOP;
)";

TEST(Endless, AFlagThatNobodySets) {
  for (int count : {1, 2}) {
    const auto fault = fault_of(kernel_text(kWaitForWord), 1, threads(64, 3), workers(count));
    EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
    EXPECT_EQ(fault.place().cta, 0u);
    EXPECT_TRUE(fault.place().has_address);
    EXPECT_EQ(fault.place().form, "ld.volatile.global.u32");
    EXPECT_NE(fault.hint().find("waits for a word of global memory to change, and no thread"),
              std::string::npos)
        << fault.hint();
  }
}

// The warp that waits for a word is told of, not the one that waits for it; of two words, none is.
TEST(Endless, TheWordOfTheLoopIsNamed) {
  const std::string second = R"(
    mov.u32 r0, %tid.x;
    setp.lt.u32 p, r0, 32;
    @p bra MEET;
    LOOP:
    ld.volatile.global.u32 r1, [data+8];
    setp.eq.u32 p, r1, 0;
    @p bra LOOP;
    MEET:
    bar.sync 0;)";
  const auto one = fault_of(kernel_text(second), 3, threads(64));
  const auto other = fault_of(kernel_text(kWaitForWord), 1, threads(64));
  EXPECT_EQ(one.kind(), FaultKind::kDeadlock);
  EXPECT_EQ(one.place().thread, 32);
  EXPECT_EQ(one.place().address % 256, other.place().address % 256 + 8);
  const auto two = fault_of(kernel_text(R"(
    LOOP:
    ld.volatile.global.u32 r1, [data];
    ld.volatile.global.u32 r2, [data+4];
    or.b32 r1, r1, r2;
    setp.eq.u32 p, r1, 0;
    @p bra LOOP;)"),
                            2, threads(32));
  EXPECT_FALSE(two.place().has_address);
  EXPECT_EQ(two.hint(), "");
}

TEST(Endless, ALoopOfBarriers) {
  const auto fault = fault_of(kernel_text(R"(
    st.global.u32 [data], 0;
    LOOP:
    bar.sync 0;
    ld.volatile.global.u32 r1, [data];
    bar.sync 0;
    bar.sync 1;
    setp.eq.u32 p, r1, 0;
    @p bra LOOP;)"),
                              1, threads(128));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
}

TEST(Endless, ALockThatIsNeverFree) {
  const auto fault = fault_of(kernel_text(R"(
    LOOP:
    atom.global.cas.b32 r1, [data], 0, 1;
    setp.ne.u32 p, r1, 0;
    @p bra LOOP;)"),
                              1, threads(2));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
  EXPECT_TRUE(says(fault, "atom.global.cas.b32")) << fault.what();
}

TEST(Endless, AWaitWithATimeSleeps) {
  const auto fault = fault_of(kernel_text(R"(
    LOOP:
    nanosleep.u32 100;
    ld.volatile.global.u32 r1, [data];
    setp.eq.u32 p, r1, 0;
    @p bra LOOP;)"),
                              1, threads(32));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
}

// It counts, so no state comes back; it may end.
TEST(Endless, ALoopThatOnlyCountsIsCalledSo) {
  const auto fault = fault_of(kernel_text(R"(
    mov.u64 d0, 0;
    again:
    add.u64 d0, d0, 1;
    setp.lt.u64 p, d0, 1000000000000;
    @p bra again;
  )"),
                              1, threads(1));
  EXPECT_EQ(fault.kind(), FaultKind::kEndless);
  EXPECT_NE(std::string(fault.what()).find("may be endless"), std::string::npos) << fault.what();
}

TEST(Endless, LongLoopsAreNotTakenForIt) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, 0;
    LOOP:
    add.u32 r0, r0, 1;
    setp.lt.u32 p, r0, 1000000;
    @p bra LOOP;
    st.global.u32 [data], r0;)"),
                            {0}, threads(32));
  EXPECT_EQ(ran.words[0], 1000000u);
}

// It reads what others write and stores nothing, like a wait, but its count changes: it ends.
TEST(Endless, APollThatGivesUpIsNoWait) {
  for (int count : {1, 2}) {
    const auto ran = run_text(kernel_text(R"(
      mov.u32 r0, 0;
      LOOP:
      add.u32 r0, r0, 1;
      ld.volatile.global.u32 r1, [data];
      setp.lt.u32 p, r0, 20000;
      @p bra LOOP;
      st.global.u32 [data+4], r0;)"),
                              {0, 0}, threads(32, 2), workers(count));
    EXPECT_EQ(ran.words[1], 20000u);
  }
}

// Each CTA waits for the next one; the last one starts the chain.
const char* const kChain = R"(
  mov.u32 r0, %ctaid.x;
  mov.u32 r1, %nctaid.x;
  add.u32 r2, r0, 1;
  mad.wide.u32 d0, r0, 4, data;
  setp.eq.u32 p, r2, r1;
  @p bra SET;
  LOOP:
  ld.acquire.gpu.global.u32 r3, [d0+4];
  setp.eq.u32 p, r3, 0;
  @p bra LOOP;
  SET:
  st.release.gpu.global.u32 [d0], r2;
)";

TEST(Endless, CtasMayWaitForLaterOnes) {
  for (int count : {1, 3}) {
    const auto ran = run_text(kernel_text(kChain), std::vector<std::uint32_t>(20), threads(32, 20),
                              workers(count));
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(ran.words[i], i + 1);
  }
}

// WHY the count: it is the time that the launch takes, on any machine.
TEST(Endless, AWaitForAWordThatDoesNotChangeIsShort) {
  const std::string loops[] = {
      kChain,
      std::string(kChain).replace(std::string(kChain).find("LOOP:"), 5, "LOOP: nanosleep.u32 20;")};
  for (const std::string& body : loops) {
    const auto ran =
        run_text(kernel_text(body), std::vector<std::uint32_t>(20), threads(32, 20), workers(1));
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(ran.words[i], i + 1);
    EXPECT_LT(ran.report.warp_instructions, 200'000u);
  }
}

// The lane that holds the lock goes on, although the others come round without a change.
TEST(Endless, LanesThatSpinLetTheOthersRun) {
  const auto ran = run_text(kernel_text(R"(
    LOOP:
    atom.acquire.gpu.global.cas.b32 r1, [data], 0, 1;
    setp.ne.u32 p, r1, 0;
    @p bra LOOP;
    ld.global.u32 r2, [data+4];
    add.u32 r2, r2, 1;
    st.global.u32 [data+4], r2;
    atom.release.gpu.global.exch.b32 r1, [data], 0;)"),
                            {0, 0}, threads(64, 3));
  EXPECT_EQ(ran.words[1], 192u);
}

TEST(Endless, ButNotForThoseThatAGpuCannotHold) {
  const std::string text =
      kernel_text(kChain, ".extern .shared .align 16 .b8 buffer[];\n", "mov.u32 r9, buffer;\n");
  for (int count : {1, 2, 16}) {
    const auto fault = fault_of(text, 140, threads(32, 140, 200 << 10), workers(count));
    EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
    EXPECT_EQ(fault.place().cta, 0u);
    EXPECT_TRUE(says(fault, "132 of 140 run")) << fault.what();
    EXPECT_TRUE(says(fault, "ld.acquire.gpu.global.u32")) << fault.what();
  }
}

TEST(Endless, SmallCtasShareTheMultiprocessorsOfAGpu) {
  const std::string text =
      kernel_text(kChain, ".extern .shared .align 16 .b8 buffer[];\n", "mov.u32 r9, buffer;\n");
  const auto ran =
      run_text(text, std::vector<std::uint32_t>(140), threads(32, 140, 100 << 10), workers(2));
  for (std::uint32_t i = 0; i < 140; ++i) EXPECT_EQ(ran.words[i], i + 1);
}

TEST(Endless, ABudgetOfInstructions) {
  MachineOptions options;
  options.observation.instruction_budget = 100000;
  const auto fault = fault_of(kernel_text(R"(
    LOOP:
    st.global.u32 [data], 1;
    bra LOOP;)"),
                              1, threads(32), options);
  EXPECT_EQ(fault.kind(), FaultKind::kStopped);
  EXPECT_TRUE(says(fault, "budget of 100000")) << fault.what();
}

TEST(Endless, StoppedFromOutside) {
  std::atomic<bool> stop = false;
  MachineOptions options;
  options.observation.stop = &stop;
  std::jthread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  const auto fault = fault_of(kernel_text(R"(
    LOOP:
    st.global.u32 [data], 1;
    bra LOOP;)"),
                              1, threads(64), options);
  EXPECT_EQ(fault.kind(), FaultKind::kStopped);
  EXPECT_TRUE(says(fault, "run at PTX line")) << fault.what();
}

TEST(Barriers, LanesOfOneWarpMustNameOneNumber) {
  const auto fault = fault_of(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.lt.u32 p, r0, 16;
    @p bra COUNTED;
    barrier.sync 1;
    bra END;
    COUNTED:
    barrier.sync 1, 32;
    END:)"),
                              1, threads(32));
  EXPECT_EQ(fault.kind(), FaultKind::kBarrier);
  EXPECT_TRUE(says(fault, "different numbers of threads")) << fault.what();
}

}  // namespace
}  // namespace tessera::vgpu
