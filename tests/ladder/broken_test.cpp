// Verification that cannot fail is worth nothing: each kernel here is wrong on purpose, and must be
// caught; the intact kernels beside them must pass the same problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "device/virtual/virtual_device.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Broken {
  std::string entry;
  Problem problem;
  lab::VerifyOptions options = {};
  std::string reason = {};  // a word of the report, where the kind of the finding is certain
  std::string check = {};   // that reports it, too
  BlockTile block = {16, 16, 16};
  int threads = 256;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.entry; }

const std::string& ptx_of_broken_kernels() {
  static const std::string text = [] {
    std::ifstream file(TESSERA_BROKEN_KERNELS, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return text;
}

lab::VerifyResult verify(const Broken& broken) {
  const Kernel kernel{
      .name = broken.entry,
      .idea = "wrong on purpose",
      .types = broken.problem.types,
      .family = "one_launch",
      .rows = {{.variant = "only",
                .entry = "broken_" + broken.entry,
                .majors = {},
                .block = broken.block,
                .threads = broken.threads,
                .threads_y = 1}},
      .helpers = {},
      .own_images = {{"", CodeImage{.name = "broken", .ptx = ptx_of_broken_kernels()}}},
  };
  static const std::unique_ptr<Device> device = make_virtual_device();
  return lab::verify(*device, {&kernel, "only"}, with_default_ld(broken.problem), broken.options);
}

Problem f32(int m, int n, int k, double alpha = 1, double beta = 0) {
  return {.m = m, .n = n, .k = k, .order = Order::kRowMajor, .alpha = alpha, .beta = beta};
}

// These run on the virtual GPU alone: a real one may hide a race, or be harmed by a stray store.
class BrokenKernel : public testing::TestWithParam<Broken> {
  void SetUp() override {
    if (test_on_cuda()) GTEST_SKIP() << "broken kernels run on the virtual GPU";
  }
};

TEST_P(BrokenKernel, IsCaught) {
  const lab::VerifyResult result = verify(GetParam());
  EXPECT_FALSE(result.ok());
  EXPECT_NE(result.reason.find(GetParam().reason), std::string::npos) << result.reason;
}

// The checks say where the bug is; what is no business of theirs, they do not report.
TEST_P(BrokenKernel, IsReportedByTheRightCheck) {
  Broken broken = GetParam();
  broken.options.checks = true;
  const lab::VerifyResult result = verify(broken);
  EXPECT_FALSE(result.ok());
  const auto is_expected = [&](const vgpu::Finding& finding) {
    return finding.check == broken.check;
  };
  EXPECT_EQ(std::any_of(result.findings.begin(), result.findings.end(), is_expected),
            !broken.check.empty())
      << result.reason;
  EXPECT_EQ(result.findings.empty(), broken.check.empty()) << result.reason;
}

// The same problem on the intact kernel: the planted bug alone is what is found.
TEST_P(BrokenKernel, PassesWhenIntact) {
  Broken intact = GetParam();
  if (intact.problem.types == kF64Types) {
    intact.threads = 32;
  } else {
    intact.entry = intact.entry.starts_with("vec4") ? "vec4_intact" : "intact";
  }
  intact.options.checks = true;
  const lab::VerifyResult result = verify(intact);
  EXPECT_TRUE(result.ok()) << result.reason;
}

std::vector<Broken> broken_kernels() {
  Problem padded = f32(32, 32, 32);
  padded.ldd = 40;
  Problem in_place{
      .m = 8, .n = 8, .k = 8, .types = kF64Types, .order = Order::kRowMajor, .beta = -1.5};
  return {
      {"k_tail_guarded_in_last_block_only", f32(48, 48, 40), {}, {}, "out-of-bounds"},
      {"no_barrier_before_use", f32(16, 16, 16), {}, {}, "race"},
      {"no_barrier_at_loop_end", f32(16, 16, 64), {}, {}, "race"},
      {"vec4_no_barrier_at_loop_end", f32(32, 32, 96), {}, {}, "race", {32, 32, 32}},
      {"unguarded_loads", f32(17, 17, 17), {}, "out of bounds", "out-of-bounds"},
      {"unguarded_stores", f32(31, 31, 16), {}, {}, "out-of-bounds"},
      {"beta_ignored", f32(16, 16, 16, 1, -1.5)},
      {"c_read_when_beta_is_zero", f32(16, 16, 16), {}, {}, "out-of-bounds"},
      {"alpha_on_everything", f32(16, 16, 16, -1.5, 1)},
      {"zeros_skipped", f32(32, 32, 32), {.fill = lab::Fill::kZeros, .nans = 2}},
      {"k_tail_dropped", f32(16, 16, 17)},
      {"last_k_dropped", f32(16, 16, 16)},
      {"ld_taken_for_n", padded},
      {"b_read_transposed", f32(16, 16, 16)},
      {"operands_rounded_to_tf32", f32(64, 64, 256)},
      {"edge_threads_return_early", f32(31, 31, 32), {}, {}, "uninitialised-shared-read"},
      {"tensor_core_tile", in_place, {.in_place = true}, {}, "race", {8, 8, 4}, 64},
  };
}

INSTANTIATE_TEST_SUITE_P(All, BrokenKernel, testing::ValuesIn(broken_kernels()),
                         [](const testing::TestParamInfo<Broken>& info) {
                           return info.param.entry;
                         });

}  // namespace
}  // namespace tessera
