// Whole kernels of the kinds that the library is made of: Ampere's cp.async and mma, FP64 tensor
// cores, Hopper's tensor copies and wgmma. Right on ragged shapes, whatever the schedule, and clean
// under all checks. They run on a real GPU as well.
#include <gtest/gtest.h>

#include "tests/kernels/gemms.h"
#include "tests/support/test_device.h"

namespace tessera {

void PrintTo(const Gemm& gemm, std::ostream* out) { *out << gemm.entry; }

namespace {

class GemmKernel : public testing::TestWithParam<Gemm> {};

TEST_P(GemmKernel, IsRightAndCleanInEverySchedule) {
  if (!can_run_kernels(test_device())) GTEST_SKIP() << "kernels for sm_90a";
  const GemmShape shape{150, 136, 328};  // no whole tiles, and more of them than stages
  const Bytes expected = expected_of(GetParam(), shape);
  for (const vgpu::Observation& observation : checked_schedules()) {
    const GemmOutcome outcome = run_gemm(test_device(), GetParam(), shape, observation);
    ASSERT_EQ(described(outcome.findings), "") << name_of(observation);
    ASSERT_TRUE(outcome.c == expected) << name_of(observation);
    if (test_on_cuda()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GemmKernel,
                         testing::Values(Gemm{"ampere_gemm", "ampere_gemm"},
                                         Gemm{"fp64_gemm", "fp64_gemm", GemmType::kF64, 64, 128},
                                         hopper_gemm(), hopper_gemm_multicast()),
                         [](const testing::TestParamInfo<Gemm>& info) { return info.param.entry; });

}  // namespace
}  // namespace tessera
