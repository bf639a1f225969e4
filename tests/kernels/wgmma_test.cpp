// The kernels of the wgmma family on ragged problems: exact against integers, in every schedule,
// and clean under all checks; what lies beside the outputs stays as it was.
#include <gtest/gtest.h>

#include "tests/kernels/wgmma_launch.h"
#include "tests/kernels/wgmma_product.h"
#include "tests/support/test_device.h"

namespace tessera {

void PrintTo(const WgmmaRow& row, std::ostream* out) { *out << row.variant; }

namespace {

using Case = ProductCase;
using Sizes = ProductSizes;

class WgmmaKernel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!can_run_kernels(test_device())) GTEST_SKIP() << "kernels for sm_90a";
  }
  void expect_right(const Case& c, const std::vector<vgpu::Observation>& observations,
                    WgmmaOrder order = {}) {
    Device& device = test_device();
    const wgmma::Config& config = kWgmmaRows[GetParam()].config;
    const Product product(device, config, c);
    order.transposed = c.transposed;
    for (const vgpu::Observation& observation : observations) {
      const DeviceBytes out(device, product.before());
      const Launch launch =
          wgmma_launch("wgmma_" + std::to_string(GetParam()), config, product.params(out), order);
      observe(device, observation);
      const auto findings =
          launch_and_check(device, device.load(kernel_image("wgmma_gemm")), launch);
      EXPECT_EQ(described(findings), "") << name_of(observation);
      EXPECT_TRUE(out.read() == product.expected())
          << name_of(observation) << " " << c.size.m << "x" << c.size.n << "x" << c.size.k;
      if (test_on_cuda()) break;
    }
  }
};

// More k tiles than stages, more tiles than CTAs, and nothing whole.
TEST_P(WgmmaKernel, IsRightAndCleanInEverySchedule) {
  const wgmma::Config& config = kWgmmaRows[GetParam()].config;
  const Case ragged{{config.block.m * config.cluster.m + 24, config.block.n * config.cluster.n + 40,
                     config.block.k * (config.stages + 1) + 8},
                    1,
                    0};
  expect_right(ragged, checked_schedules(), {.group = 2, .along_m = true, .ctas = config.ctas()});
}

TEST_P(WgmmaKernel, ScalesAndAdds) {
  expect_right({{72, 88, 136}, 2, 0.5F}, {checked_schedules().front()});
}

// C by copies of whole pieces, C whose rows are none, and C that is D.
TEST_P(WgmmaKernel, AddsToCWhileTilesBeforeStillLeave) {
  const wgmma::Config& config = kWgmmaRows[GetParam()].config;
  Case ragged{{config.block.m * config.cluster.m + 24, config.block.n * config.cluster.n + 41,
               config.block.k + 8},
              2,
              0.5F};
  const WgmmaOrder order{.group = 2, .along_m = true, .ctas = config.ctas()};
  const auto all = checked_schedules();
  expect_right(ragged, {all.front(), all.back()}, order);
  for (const int pad : {1, 8 / types::bytes_of(config.out)}) {
    ragged.c_pad = pad;
    expect_right(ragged, {all.back()}, order);
  }
  ragged.c_pad = 0, ragged.in_place = true;
  expect_right(ragged, {all.front(), all.back()}, order);
}

TEST_P(WgmmaKernel, TakesEveryTail) {
  for (const int tail : {1, 7, 8, 63, 64, 65}) {
    expect_right({{tail, 2 * tail + 1, tail}, 1, 0}, {checked_schedules().back()});
  }
}

// With few k tiles the ring holds several tiles of D: warpgroups may be whole tiles apart.
TEST_P(WgmmaKernel, MultipliesAnyNumberOfKTiles) {
  const wgmma::Config& config = kWgmmaRows[GetParam()].config;
  const int m = config.block.m * config.cluster.m * 3 + 24;
  for (int k_tiles = 1; k_tiles <= config.stages + 1; ++k_tiles) {
    for (const float beta : {0.0F, 0.5F}) {
      expect_right({{m, 40, config.block.k * k_tiles}, 1, beta}, {checked_schedules().back()},
                   {.group = 2, .along_m = true, .ctas = config.ctas()});
    }
  }
}

TEST_P(WgmmaKernel, WritesZerosWithoutK) {
  expect_right({{70, 90, 0}, 0, 0}, {checked_schedules().back()});
  expect_right({{70, 90, 0}, 0, 2}, {checked_schedules().back()});
}

TEST_P(WgmmaKernel, WalksWholeTilesInBothDirections) {
  const wgmma::Config& config = kWgmmaRows[GetParam()].config;
  for (const bool along_m : {false, true}) {
    expect_right({{2 * config.block.m * config.cluster.m, 2 * config.block.n * config.cluster.n,
                   config.block.k},
                  1,
                  0},
                 {checked_schedules().front()}, {.group = 1, .along_m = along_m, .ctas = 8});
  }
}

// Operands of TF32 that are exchanged, so that the one across k comes from registers.
TEST_P(WgmmaKernel, StoresTheTransposedProduct) {
  const wgmma::Config& config = kWgmmaRows[GetParam()].config;
  if (!config.a_from_registers()) return;
  const Sizes ragged{config.block.m + 27, config.block.n + 40,
                     config.block.k * (config.stages + 1)};
  expect_right({ragged, 1, 0, true}, checked_schedules(), {.group = 2, .ctas = 1});
  expect_right({{72, 88, 136}, 2, 0.5F, true}, {checked_schedules().front()});
  expect_right({{70, 90, 0}, 0, 2, true}, {checked_schedules().front()});
  expect_right({ragged, 2, 0.5F, true, 1}, {checked_schedules().front()}, {.group = 2, .ctas = 1});
  expect_right({ragged, 2, 0.5F, true, 0, true}, checked_schedules(), {.group = 2, .ctas = 1});
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaKernel,
                         testing::Range(0, static_cast<int>(std::size(kWgmmaRows))),
                         [](const testing::TestParamInfo<int>& info) {
                           return std::string(kWgmmaRows[info.param].variant);
                         });

}  // namespace
}  // namespace tessera
