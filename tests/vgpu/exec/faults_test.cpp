// What stops a kernel says where it happened and what lies near.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <new>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

TEST(Faults, NameThePlace) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %tid.x;
    mad.wide.u32 d0, r0, 4, data;
    ld.global.u32 r1, [d0+8];)");
  const auto fault = fault_of(text, 62, threads(64));
  EXPECT_EQ(fault.kind(), FaultKind::kOutOfBounds);
  EXPECT_EQ(fault.place().kernel, "test");
  EXPECT_EQ(fault.place().form, "ld.global.u32");
  EXPECT_EQ(fault.place().thread, 60);
  EXPECT_EQ(fault.place().cta, 0u);
  EXPECT_TRUE(fault.place().has_address);
  EXPECT_TRUE(says(fault, "0 bytes past the end of an allocation of 248 bytes")) << fault.what();
  std::size_t at = 0;
  for (int line = 1; line < fault.place().ptx_line; ++line) at = text.find('\n', at) + 1;
  EXPECT_NE(text.substr(at, text.find('\n', at) - at).find("ld.global.u32"), std::string::npos);
}

TEST(Faults, LowestCtaIsReportedWhateverTheThreads) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %ctaid.x;
    setp.lt.u32 p, r0, 11;
    @p bra END;
    st.global.u32 [data+400], r0;
    END:)");
  for (int host_threads : {1, 2, 7}) {
    MachineOptions options;
    options.host_threads = host_threads;
    EXPECT_EQ(fault_of(text, 4, threads(32, 64), options).place().cta, 11u);
  }
}

TEST(Faults, NullPointerFreedMemoryAndBeforeTheBegin) {
  EXPECT_TRUE(says(fault_of(kernel_text("mov.u64 d0, 0;\nld.global.u32 r0, [d0];"), 1, threads(1)),
                   "a null pointer"));
  EXPECT_TRUE(says(fault_of(kernel_text("ld.global.u32 r0, [data-4];"), 1, threads(1)),
                   "4 bytes before the begin"));
  Machine machine;
  const std::uint64_t address = machine.allocate(64);
  machine.free(address);
  std::uint32_t word;
  try {
    machine.read(&word, address, 4);
    FAIL() << "freed memory was read";
  } catch (const Fault& fault) {
    EXPECT_TRUE(says(fault, "freed since")) << fault.what();
  }
}

TEST(Faults, AccessThatCrossesTheEnd) {
  const auto fault =
      fault_of(kernel_text("ld.global.v4.u32 {r0, r1, r2, r3}, [data+16];"), 7, threads(1));
  EXPECT_TRUE(says(fault, "the last 4 of 16 bytes")) << fault.what();
}

TEST(Faults, Misaligned) {
  const auto fault = fault_of(kernel_text("ld.global.v2.u32 {r0, r1}, [data+4];"), 4, threads(32));
  EXPECT_EQ(fault.kind(), FaultKind::kMisaligned);
  EXPECT_TRUE(says(fault, "multiple of 8")) << fault.what();
}

TEST(Faults, SharedMemoryEndsWhereTheLaunchSaid) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, buffer;
    st.shared.u32 [r0+1020], r0;
    st.shared.u32 [r0+1024], r0;)",
                                       ".extern .shared .align 16 .b8 buffer[];\n");
  const auto fault = fault_of(text, 1, threads(32, 1, 1024));
  EXPECT_EQ(fault.kind(), FaultKind::kOutOfBounds);
  EXPECT_TRUE(says(fault, "0 bytes past the end of its 1024 bytes")) << fault.what();
  EXPECT_NO_THROW(run_text(text, {0}, threads(32, 1, 1028)));
}

TEST(Faults, LocalMemoryEndsWithTheFrame) {
  const auto fault = fault_of(kernel_text("mov.u64 d0, mine;\nst.local.u32 [d0+16], r0;", "",
                                          ".local .align 16 .b8 mine[16];\n"),
                              1, threads(32));
  EXPECT_EQ(fault.kind(), FaultKind::kOutOfBounds);
  EXPECT_TRUE(says(fault, "local memory")) << fault.what();
}

TEST(Faults, LocalMemoryThatNoThreadHas) {
  for (const char* bytes : {"524304", "4294967264", "4294967296"}) {
    const std::string mine = std::string(".local .align 16 .b8 mine[") + bytes + "];\n";
    const auto fault = fault_of(kernel_text("st.local.u32 [mine], r0;", "", mine), 1, threads(32));
    EXPECT_EQ(fault.kind(), FaultKind::kUnsupported);
    EXPECT_TRUE(says(fault, "at most 512 KB of local memory")) << fault.what();
  }
  EXPECT_NO_THROW(
      run_text(kernel_text("st.local.u32 [mine], r0;", "", ".local .align 16 .b8 mine[524288];\n"),
               {0}, threads(32)));
}

// Orders that PTX does not know for the instruction.
TEST(Faults, OrdersOfBarrierObjects) {
  for (const char* body :
       {"mbarrier.arrive.acquire.cta.shared::cta.b64 d0, [object];",
        "mbarrier.arrive.noComplete.relaxed.cta.shared::cta.b64 d0, [object], 1;",
        "mbarrier.test_wait.release.cta.shared::cta.b64 p, [object], d0;",
        "mbarrier.try_wait.parity.acq_rel.cta.shared::cta.b64 p, [object], 0;"}) {
    const auto fault = fault_of(kernel_text(body, "", ".shared .b64 object;\n"), 1, threads(32));
    EXPECT_EQ(fault.kind(), FaultKind::kUnsupported) << body;
    EXPECT_TRUE(says(fault, "relaxed") || says(fault, ".release alone")) << fault.what();
  }
}

TEST(Faults, UnknownInstructionOnlyWhereItIsLaunched) {
  const std::string other =
      "\n.visible .entry other()\n{\n.reg .b32 a;\nfrobnicate.b32 a, a;\nret;\n}\n";
  EXPECT_NO_THROW(run_text(kernel_text("") + other, {0}, threads(32)));
  Machine machine;
  const auto program = machine.load(kernel_text("") + other);
  try {
    machine.launch(*program, "other", threads(32), {});
    FAIL() << "an unknown instruction ran";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::kUnsupported);
    EXPECT_EQ(fault.place().form, "frobnicate.b32");
    EXPECT_GT(fault.place().ptx_line, 0);
  }
}

TEST(Faults, Launches) {
  Machine machine;
  const auto program = machine.load(kernel_text(""));
  const std::vector<std::byte> params(8);
  const auto refused = [&](std::string_view entry, const LaunchShape& shape, std::size_t bytes) {
    try {
      machine.launch(*program, entry, shape, std::span(params).first(bytes));
    } catch (const Fault& fault) {
      return fault.kind() == FaultKind::kBadLaunch;
    }
    return false;
  };
  EXPECT_TRUE(refused("absent", threads(32), 8));
  EXPECT_TRUE(refused("test", threads(0), 8));
  EXPECT_TRUE(refused("test", threads(1025), 8));
  EXPECT_TRUE(refused("test", threads(32, 0), 8));
  EXPECT_TRUE(refused("test", threads(32), 4));
  EXPECT_TRUE(refused("test", threads(32, 1, (227 << 10) + 1), 8));
  EXPECT_FALSE(refused("test", threads(32, 1, 227 << 10), 8));
}

// The CTAs' own memory runs out in threads of the launch, and the caller is told.
TEST(Faults, HostMemoryThatRunsOut) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs more address space than is left here";
#endif
  const std::string text =
      kernel_text("st.local.u32 [mine], r0;", "", ".local .align 16 .b8 mine[524288];\n");
  MachineOptions options;
  options.host_threads = 4;
  const auto launch_in_little_memory = [&] {
    // 1024 threads have 512 MB of local memory; 400 MB are left beside what the process maps.
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (400 << 20);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    try {
      run_text(text, {0}, threads(1024, 8), options);
    } catch (const std::bad_alloc&) {
      std::_Exit(3);
    }
    std::_Exit(4);
  };
  EXPECT_EXIT(launch_in_little_memory(), testing::ExitedWithCode(3), "");
}

TEST(Faults, MemoryThatCannotBeHad) {
  MachineOptions options;
  options.memory_bytes = 1000;
  Machine machine(options);
  const std::uint64_t first = machine.allocate(600);
  EXPECT_THROW(machine.allocate(600), Fault);
  machine.free(first);
  EXPECT_NO_THROW(machine.allocate(600));
  EXPECT_THROW(Machine().allocate(std::size_t{1} << 60), Fault);
}

}  // namespace
}  // namespace tessera::vgpu
