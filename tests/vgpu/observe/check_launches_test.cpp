// Launches that may start before those ahead of them have ended (programmatic dependent launch):
// what one does before griddepcontrol.wait is held against what the others wrote.
#include "tests/vgpu/observe/checked.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint32_t kWords = 4096;

// Two or more kernels that follow each other on one machine; every one but the first starts early.
// A kernel is PTX over `data`, the address of the words.
class Stream {
 public:
  Stream() : machine_(checking()), data_(machine_.allocate(4 * kWords)) {
    const std::vector<std::uint32_t> words(kWords);
    machine_.write(data_, words.data(), 4 * kWords);
  }

  Findings launch(const std::string& body, bool starts_early = true) {
    const std::string begin =
        "mov.u32 r0, %tid.x;\n mul.wide.u32 d0, r0, 4;\n add.u64 d0, d0, data;\n";
    programs_.push_back(
        machine_.load(kernel_text(begin + body, "", ".shared .align 16 .b8 tile[4096];\n")));
    LaunchShape shape = threads(64, 2);
    shape.starts_early = starts_early;
    const auto params = std::as_bytes(std::span(&data_, 1));
    return machine_.launch(*programs_.back(), "test", shape, params).findings;
  }
  Machine& machine() { return machine_; }
  std::uint64_t data() const { return data_; }

 private:
  Machine machine_;
  std::uint64_t data_;
  std::vector<std::shared_ptr<const Program>> programs_;
};

const std::string kOneCta = "mov.u32 r1, %ctaid.x;\n setp.ne.u32 p, r1, 0;\n @p exit;\n";
const std::string kWrite = kOneCta + "st.global.u32 [d0], r0;\n";
const std::string kRead = "ld.global.u32 r2, [d0];\n";
const std::string kReadElsewhere = "ld.global.u32 r2, [d0+4096];\n";
const std::string kWait = "griddepcontrol.wait;\n";

TEST(CheckLaunches, WhoWaitsMayRead) {
  Stream stream;
  expect_clean(stream.launch(kWrite, false));
  expect_clean(stream.launch(kWait + kRead));
}

TEST(CheckLaunches, WhoDoesNotWaitMayNot) {
  Stream stream;
  expect_clean(stream.launch("griddepcontrol.launch_dependents;\n" + kWrite, false));
  const Findings findings = stream.launch(kRead + kWait);
  expect_found(findings, "launch-overtakes", "ld.global.u32");
  EXPECT_EQ(findings.size(), 1u) << text_of(findings);
  EXPECT_NE(findings[0].message.find("kernel test (line "), std::string::npos)
      << findings[0].message;
  EXPECT_EQ(findings[0].message.find("(line 0)"), std::string::npos) << findings[0].message;
}

TEST(CheckLaunches, WhatNobodyWritesMayBeReadEarly) {
  Stream stream;
  expect_clean(stream.launch(kWrite, false));
  expect_clean(stream.launch(kReadElsewhere + kWait + kRead));
}

// Even where nobody is known to touch it: what a launch ahead reads is not all remembered.
TEST(CheckLaunches, NothingIsStoredBeforeTheWait) {
  for (const char* store : {"st.global.u32 [d0+8192], r0;\n", "red.global.add.u32 [data], 1;\n"}) {
    Stream stream;
    expect_clean(stream.launch(kRead, false));
    const std::string form = std::string(store).substr(0, std::string(store).find(' '));
    expect_found(stream.launch(kOneCta + store + kWait), "launch-overtakes", form);
    expect_clean(stream.launch(kWait + kOneCta + store));
  }
}

// One thread that waits is enough for those that a barrier puts behind it.
TEST(CheckLaunches, ABarrierHandsTheWaitOn) {
  const std::string one_waits = "setp.ne.u32 p, r0, 0;\n @p bra after;\n" + kWait + "after:\n";
  Stream stream;
  expect_clean(stream.launch(kWrite, false));
  expect_clean(stream.launch(one_waits + "bar.sync 0;\n" + kRead));
  expect_clean(stream.launch(kWait + kWrite));
  expect_found(stream.launch(one_waits + kRead), "launch-overtakes", "ld.global.u32");
}

// The third may start while the first still runs: the second waits for that, but the third does not
// know of it yet.
TEST(CheckLaunches, ALaunchTwoAheadMayStillRun) {
  Stream stream;
  expect_clean(stream.launch(kWrite, false));
  expect_clean(stream.launch(kWait));
  expect_found(stream.launch(kRead + kWait), "launch-overtakes", "ld.global.u32");
}

TEST(CheckLaunches, ALaunchThatStartsLateEndsTheChain) {
  Stream stream;
  expect_clean(stream.launch(kWrite, false));
  expect_clean(stream.launch("mov.u32 r3, 0;\n", false));
  expect_clean(stream.launch(kRead + kWait));
}

TEST(CheckLaunches, ACopyWaitsForAllBeforeIt) {
  Stream stream;
  expect_clean(stream.launch(kWrite, false));
  std::uint32_t word = 0;
  stream.machine().read(&word, stream.data(), 4);
  expect_clean(stream.launch(kRead));
}

TEST(CheckLaunches, AnAsynchronousCopyIsHeldToItsIssuer) {
  const std::string copy =
      "mov.u32 r4, tile;\n shl.b32 r5, r0, 2;\n add.u32 r4, r4, r5;\n"
      "cp.async.ca.shared.global [r4], [d0], 4;\n cp.async.commit_group;\n"
      "cp.async.wait_group 0;\n";
  for (const bool waits : {true, false}) {
    Stream stream;
    expect_clean(stream.launch(kWrite, false));
    const Findings findings = stream.launch((waits ? kWait + copy : copy + kWait));
    if (waits) {
      expect_clean(findings);
    } else {
      expect_found(findings, "launch-overtakes", "cp.async.ca.shared.global");
    }
  }
}

}  // namespace
}  // namespace tessera::vgpu
