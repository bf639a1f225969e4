// wgmma happens early or late and gives the same; what its registers, fences and warpgroups must
// not do is reported, and only that.
#include <gtest/gtest.h>

#include "tests/vgpu/instructions/case_file.h"
#include "tests/vgpu/observe/checked.h"

namespace tessera::vgpu {
namespace {

const std::filesystem::path kFolder = TESSERA_SOURCE_DIR "/tests/vgpu/instructions";

// ---- schedules ----------------------------------------------------------------------------------

struct Outcome {
  std::vector<std::byte> output;
  Findings findings;
};

Outcome run_case(const CaseFile& file, const Observation& observation) {
  MachineOptions options;
  options.host_threads = 1;
  options.observation = observation;
  Machine machine(options);
  const auto program = machine.load(file.text);
  const std::uint64_t addresses[2] = {machine.allocate(file.input.size()),
                                      machine.allocate(file.output_bytes())};
  machine.write(addresses[0], file.input.data(), file.input.size());
  std::vector<std::byte> params(sizeof addresses);
  std::memcpy(params.data(), addresses, sizeof addresses);
  LaunchShape shape = threads(static_cast<std::uint32_t>(file.block));
  shape.shared_bytes = static_cast<std::uint32_t>(file.shared_bytes);
  Outcome outcome;
  outcome.findings = machine.launch(*program, "test", shape, params).findings;
  outcome.output.resize(file.output_bytes());
  machine.read(outcome.output.data(), addresses[1], outcome.output.size());
  return outcome;
}

TEST(WgmmaSchedules, AgreeAndAreClean) {
  for (const char* name : {"wgmma_scale_d", "wgmma_a_in_registers_bf16", "wgmma_f16_mn_major_64b",
                           "wgmma_bf16_n256", "wgmma_s8_s8"}) {
    SCOPED_TRACE(name);
    const CaseFile file = read_case_file(kFolder / (std::string(name) + ".ptx"));
    Observation observation;
    const Outcome eager = run_case(file, observation);
    observation.schedule = AsyncSchedule::kLazy;
    EXPECT_EQ(run_case(file, observation).output, eager.output);
    observation.checks = true;
    const Outcome lazy = run_case(file, observation);
    EXPECT_EQ(lazy.output, eager.output);
    expect_clean(lazy.findings);
    observation.schedule = AsyncSchedule::kEager;
    expect_clean(run_case(file, observation).findings);
  }
}

// ---- misuse -------------------------------------------------------------------------------------

constexpr std::string_view kDeclarations =
    ".shared .align 1024 .b8 tile[4096];\n.reg .f32 s<4>;\n.reg .b32 a<4>;\n";

// A tile of zeros, its descriptor in d0; s0-s3 are zero.
std::string with_tile(std::string_view body) {
  std::string text = R"(
  mov.u32 r0, %tid.x;
  mov.u32 r1, tile;
  mov.u32 r2, 0;
  mad.lo.u32 r3, r0, 32, r1;
  st.shared.v4.b32 [r3], {r2, r2, r2, r2};
  st.shared.v4.b32 [r3+16], {r2, r2, r2, r2};
  fence.proxy.async;
  bar.sync 0;
  shr.u32 r4, r1, 4;
  cvt.u64.u32 d0, r4;
  or.b64 d0, d0, 0xC000001000010000;
  mov.f32 s0, 0f00000000;
  mov.f32 s1, s0;
  mov.f32 s2, s0;
  mov.f32 s3, s0;
  mov.b32 a0, 0;
  mov.b32 a1, 0;
  mov.b32 a2, 0;
  mov.b32 a3, 0;
)";
  text += body;
  text += "\nmad.wide.u32 d2, r0, 16, data;\nst.global.v4.f32 [d2], {s0, s1, s2, s3};\n";
  return text;
}

constexpr std::string_view kFence = "wgmma.fence.sync.aligned;\n";
constexpr std::string_view kProduct =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {s0, s1, s2, s3}, d0, d0, 1, 1, 1, 0, 0;\n";
constexpr std::string_view kNewProduct =  // whatever D was
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {s0, s1, s2, s3}, d0, d0, 0, 1, 1, 0, 0;\n";
constexpr std::string_view kRegisterProduct =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {s0, s1, s2, s3}, {a0, a1, a2, a3}, d0, 1, "
    "1, 1, 0;\n";
constexpr std::string_view kCommit = "wgmma.commit_group.sync.aligned;\n";
constexpr std::string_view kWait = "wgmma.wait_group.sync.aligned 0;\n";
constexpr std::string_view kWaitButOne = "wgmma.wait_group.sync.aligned 1;\n";
constexpr std::string_view kForm = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

Findings check_tile(std::initializer_list<std::string_view> parts, std::uint32_t block = 128) {
  return check(with_tile(join(parts)), threads(block), kDeclarations);
}

TEST(WgmmaChecks, LetRightKernelsBe) {
  expect_clean(check_tile({kFence, kProduct, kCommit, kWait}));
  expect_clean(check_tile({kFence, kRegisterProduct, kCommit, kWait}));
  // Products of one shape need no fence between them.
  expect_clean(check_tile({kFence, kProduct, kProduct, kCommit, kProduct, kCommit, kWait}));
  // Registers of another group are free.
  expect_clean(check_tile({kFence, kRegisterProduct, kCommit, kWait, "mov.b32 a0, 1;\n", kFence,
                           kRegisterProduct, kCommit, kWait}));
}

TEST(WgmmaChecks, FindRegistersInFlight) {
  expect_found(check_tile({kFence, kProduct, kCommit, "add.f32 f0, s1, s1;\n", kWait}),
               "wgmma-register-in-flight", "add.f32");
  expect_found(check_tile({kFence, kProduct, kCommit, "mov.f32 s3, 0f3F800000;\n", kWait}),
               "wgmma-register-in-flight", "mov.f32");
  expect_found(check_tile({kFence, kRegisterProduct, kCommit, "mov.b32 a2, 7;\n", kWait}),
               "wgmma-register-in-flight", "mov.b32");
  const Findings guarded = check_tile(
      {kFence, kProduct, kCommit, "setp.eq.u32 p, r2, 0;\n@p mov.f32 s3, 0f3F800000;\n", kWait});
  expect_found(guarded, "wgmma-register-in-flight", "mov.f32");
  expect_clean(check_tile(
      {kFence, kProduct, kCommit, "setp.ne.u32 p, r2, 0;\n@p mov.f32 s3, 0f3F800000;\n", kWait}));
  // The wait leaves one group, and it is this one.
  expect_found(check_tile({kFence, kProduct, kCommit, kWaitButOne, "neg.f32 f1, s0;\n", kWait}),
               "wgmma-register-in-flight", "neg.f32");
}

TEST(WgmmaChecks, FindMissingFences) {
  expect_found(check_tile({kProduct, kCommit, kWait}), "missing-wgmma-fence", kForm);
  expect_found(check_tile({kFence, kProduct, kCommit, kWait, "add.f32 s0, s0, s0;\n", kProduct,
                           kCommit, kWait}),
               "missing-wgmma-fence", kForm);
  expect_found(check_tile({kFence, kRegisterProduct, kCommit, kWait, "mov.b32 a0, 1;\n",
                           kRegisterProduct, kCommit, kWait}),
               "missing-wgmma-fence", kForm);
  constexpr std::string_view kOther =
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {s3, s2, s1, s0}, d0, d0, 1, 1, 1;\n";
  expect_found(check_tile({kFence, kProduct, kOther, kCommit, kWait}), "missing-wgmma-fence",
               "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32");
}

// Compilers sink initialisations behind the fence. What a fence has not parted from the product
// before is wrong all the same, and so is arithmetic.
TEST(WgmmaChecks, NoteMovesBetweenFenceAndProduct) {
  const auto found = [](std::initializer_list<std::string_view> parts, bool allowed) {
    MachineOptions options = checking();
    options.observation.allows_moves_after_fence = allowed;
    return run_text(kernel_text(with_tile(join(parts)), "", kDeclarations),
                    std::vector<std::uint32_t>(4096), threads(128), options)
        .report.findings;
  };
  constexpr std::string_view kMove = "mov.f32 s1, 0f00000000;\n", kAdd = "add.f32 s2, s2, s2;\n";
  constexpr const char* kCheck = "missing-wgmma-fence";
  for (const bool again : {false, true}) {
    const std::string before = again ? join({kFence, kProduct, kCommit, kWait}) : "";
    const auto at = [&](std::string_view then, bool allowed) {
      return found({before, kFence, then, kProduct, kCommit, kWait}, allowed);
    };
    expect_found(at(kMove, true), kCheck, kForm, Severity::kNote);
    expect_found(at(kMove, false), kCheck, kForm);
    expect_found(at(kAdd, true), kCheck, kForm);
    expect_found(at(join({kMove, kAdd}), true), kCheck, kForm);
  }
  expect_found(found({kFence, kProduct, kCommit, kWait, kMove, kProduct, kCommit, kWait}, true),
               kCheck, kForm);
}

TEST(WgmmaChecks, FindWarpgroupsThatDiffer) {
  expect_found(check_tile({kFence, kProduct, kCommit, kWait}, 96), "warpgroup-incomplete", kForm);
  expect_found(check_tile({"shr.u32 r5, r0, 6;\ncvt.u64.u32 d1, r5;\nadd.u64 d0, d0, d1;\n", kFence,
                           kProduct, kCommit, kWait}),
               "warpgroup-divergence", kForm);
  expect_found(check_tile({"and.b32 r5, r0, 1;\ncvt.u64.u32 d1, r5;\nadd.u64 d0, d0, d1;\n", kFence,
                           kProduct, kCommit, kWait}),
               "wgmma-descriptor", kForm);
  expect_found(check_tile({"or.b64 d0, d0, 0x4000;\n", kFence, kProduct, kCommit, kWait}),
               "wgmma-descriptor", kForm);
}

// PTX ISA: .sync.aligned wants all four warps, also where the others have ended.
TEST(WgmmaChecks, FindWarpgroupsOfWhichAWarpEndsWithoutTheProduct) {
  const std::string some = with_tile(join({"setp.ge.u32 p, r0, 96;\n@p bra OTHERS;\n", kFence,
                                           kProduct, kProduct, kCommit, kWait, "OTHERS:\n"}));
  for (const bool meet : {false, true}) {
    MachineOptions options = checking();
    options.observation.warpgroups_meet = meet;
    const std::vector<std::uint32_t> words(4096);
    const Findings findings =
        run_text(kernel_text(some, "", kDeclarations), words, threads(128), options)
            .report.findings;
    expect_found(findings, "warpgroup-divergence", kForm);
    EXPECT_TRUE(text_of(findings).find("Warp 0 issues 2 wgmma, and warp 3 of its warpgroup ended "
                                       "after 0") != std::string::npos)
        << text_of(findings);
  }
}

// A kernel that forgot the wait reads what stood in the accumulator before.
TEST(WgmmaSchedules, LazyProductsComeInTheWait) {
  const std::string body =
      with_tile(join({"mov.f32 s1, 0f40400000;\n", kFence, kNewProduct, kCommit,
                      "mov.f32 f0, s1;\n", kWait, "mov.f32 s1, f0;\n"}));
  const std::string text = kernel_text(body, "", kDeclarations);
  const std::vector<std::uint32_t> words(4096);
  EXPECT_EQ(run_text(text, words, threads(128)).words[1], 0u);
  MachineOptions lazy;
  lazy.observation.schedule = AsyncSchedule::kLazy;
  EXPECT_EQ(run_text(text, words, threads(128), lazy).words[1], 0x40400000u);
}

}  // namespace
}  // namespace tessera::vgpu
