// The contracts of a call: what a plan is executed with is checked before anything is launched,
// in-place and interleaved operands are legal, and one plan serves many addresses.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "device/buffer.h"
#include "gemm/call/prepare.h"
#include "tests/gemm/allocations.h"
#include "tests/support/host_device.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr DeviceAddress kA = 0x10000000, kB = 0x20000000, kC = 0x30000000, kD = 0x40000000,
                        kWorkspace = 0x50000000;

gemm::Arguments arguments_of(const gemm::Plan& plan) {
  return {{kA, kB, kC, kD}, 1, plan.problem.beta, kWorkspace, plan.workspace_bytes()};
}

gemm::Plan plan_of(Problem problem, const gemm::Alignment& alignment = {},
                   const gemm::PlanOptions& options = {}) {
  return gemm::plan(problem, alignment, {.sms = 132}, options);
}

const Problem kProblem{.m = 300, .n = 200, .k = 100, .beta = 1};

std::vector<std::string> images_for(const gemm::Plan& plan) {
  HostDevice device;
  gemm::prepare(device, plan);
  for (const auto& [entry, image] : device.entries) {
    EXPECT_EQ(image_of(plan.kernel(), entry).name, image) << entry;
  }
  return device.images;
}

// A GPU is handed the code that a plan launches, not that of all configs of a kernel.
TEST(Prepare, LoadsTheImagesOfThePlansEntriesAlone) {
  const gemm::PlanOptions of_one{.kernel = choose_kernels("simt_f32/128x64").front()};
  Problem whole{.m = 256, .n = 256, .k = 64, .order = Order::kRowMajor};
  set_layout(whole, "TN");
  whole = with_default_ld(whole);
  EXPECT_EQ(images_for(plan_of(whole, {.a = 16, .b = 16, .c = 16, .d = 16}, of_one)),
            std::vector<std::string>{"simt_f32__128x64"});
  const gemm::PlanOptions packed{.kernel = choose_kernels("24").front()};
  Problem f64 = kProblem;
  f64.types = kF64Types;
  EXPECT_EQ(images_for(plan_of(f64, {}, packed)),
            std::vector<std::string>{"24_tensor_core_wmma__8x8"});
}

std::string refusal(const gemm::Plan& plan, const gemm::Arguments& arguments) {
  const Status status = check(plan, arguments);
  if (!status.ok()) {
    EXPECT_EQ(status.code, StatusCode::kBadArgument);
    HostDevice device;
    const gemm::Prepared prepared = gemm::prepare(device, plan);
    EXPECT_THROW(gemm::execute(prepared, arguments), StatusError);
    EXPECT_TRUE(device.launches.empty()) << "something was launched";
  }
  return status.message;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Execute, AlignmentBelowThePlannedOneIsRefused) {
  const gemm::Plan plan = plan_of(kProblem, {.a = 16, .b = 8, .c = 4, .d = 16});
  const gemm::Arguments good = arguments_of(plan);
  EXPECT_EQ(refusal(plan, good), "");
  const auto moved = [&](std::uint64_t Operands::*operand, std::uint64_t bytes) {
    gemm::Arguments arguments = good;
    arguments.operands.*operand += bytes;
    return refusal(plan, arguments);
  };
  EXPECT_TRUE(says(moved(&Operands::a, 8), "address of A is 268435464"));
  EXPECT_TRUE(says(moved(&Operands::a, 8), "multiple of 16 bytes"));
  EXPECT_EQ(moved(&Operands::b, 8), "");
  EXPECT_TRUE(says(moved(&Operands::b, 4), "address of B"));
  EXPECT_EQ(moved(&Operands::c, 4), "");
  EXPECT_TRUE(says(moved(&Operands::c, 2), "address of C"));
  EXPECT_TRUE(says(moved(&Operands::d, 4), "address of D"));
  EXPECT_EQ(moved(&Operands::d, 16), "");
}

TEST(Execute, AnElementLiesAtAMultipleOfItsBytes) {
  for (const auto& [types, bytes] : {std::pair(kF32Types, 4), {kF64Types, 8}}) {
    Problem problem = kProblem;
    problem.types = types;
    const gemm::Plan plan = plan_of(problem, {.a = 1, .b = 1, .c = 1, .d = 1});
    for (const auto operand : {&Operands::a, &Operands::b, &Operands::c, &Operands::d}) {
      gemm::Arguments arguments = arguments_of(plan);
      arguments.operands.*operand += static_cast<std::uint64_t>(bytes);
      EXPECT_EQ(refusal(plan, arguments), "");
      arguments.operands.*operand -= static_cast<std::uint64_t>(bytes / 2);
      EXPECT_TRUE(says(refusal(plan, arguments),
                       "a multiple of its element's bytes, " + std::to_string(bytes)));
    }
  }
}

TEST(Execute, TheBestAlignmentOfAddressesIsKnown) {
  const auto a = [](std::uint64_t address) { return gemm::alignment_of({address}).a; };
  EXPECT_EQ(a(0), 16);
  EXPECT_EQ(a(0x1000), 16);
  EXPECT_EQ(a(0x1010), 16);
  EXPECT_EQ(a(0x1018), 8);
  EXPECT_EQ(a(0x1004), 4);
  EXPECT_EQ(a(0x1002), 2);
  EXPECT_EQ(a(0x1001), 1);
  EXPECT_EQ(gemm::alignment_of({16, 8, 4, 2}), (gemm::Alignment{16, 8, 4, 2}));
}

TEST(Execute, ASmallerWorkspaceIsRefusedWithBothNumbers) {
  const gemm::Plan plan = plan_of(kProblem);
  ASSERT_GT(plan.workspace_bytes(), 0);
  gemm::Arguments arguments = arguments_of(plan);
  arguments.workspace_bytes -= 1;
  const std::string message = refusal(plan, arguments);
  EXPECT_TRUE(says(message, std::to_string(plan.workspace_bytes()))) << message;
  EXPECT_TRUE(says(message, std::to_string(plan.workspace_bytes() - 1))) << message;
  arguments = arguments_of(plan);
  arguments.workspace = 0;
  EXPECT_TRUE(says(refusal(plan, arguments), "workspace is null"));
  arguments.workspace = kWorkspace + 128;
  EXPECT_TRUE(says(refusal(plan, arguments), "multiple of 256"));
}

TEST(Execute, WhetherScalesAreZeroIsPartOfThePlan) {
  const auto with = [&](double alpha, double beta) {
    Problem problem = kProblem;
    problem.alpha = alpha;
    problem.beta = beta;
    return plan_of(problem);
  };
  const auto said = [&](const gemm::Plan& plan, double alpha, double beta) {
    gemm::Arguments arguments = arguments_of(plan);
    arguments.alpha = alpha;
    arguments.beta = beta;
    return refusal(plan, arguments);
  };
  EXPECT_EQ(said(with(1, 1), -2.5, 0.125), "");
  EXPECT_TRUE(says(said(with(1, 1), 0, 1), "alpha is 0, but the plan is for one that is not 0"));
  EXPECT_TRUE(says(said(with(1, 1), 1, 0), "beta is 0"));
  EXPECT_TRUE(says(said(with(0, 1), 3, 1), "alpha is 3, but the plan is for one that is 0"));
  EXPECT_TRUE(says(said(with(1, 0), 1, 7), "beta is 7"));
  EXPECT_TRUE(says(said(with(1, 1), 1e300, 1), "finite")) << "not a float";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(said(with(1, 1), nan, nan), "");
  EXPECT_EQ(said(with(1, 0), 1, -0.0), "") << "-0 is 0";
}

TEST(Execute, WhatIsReadOrWrittenHasAnAddress) {
  Problem problem = kProblem;
  gemm::Plan plan = plan_of(problem);
  const auto without = [&](std::uint64_t Operands::*operand) {
    gemm::Arguments arguments = arguments_of(plan);
    arguments.operands.*operand = 0;
    return refusal(plan, arguments);
  };
  EXPECT_TRUE(says(without(&Operands::a), "address of A is 0"));
  EXPECT_TRUE(says(without(&Operands::b), "address of B is 0"));
  EXPECT_TRUE(says(without(&Operands::c), "address of C is 0"));
  EXPECT_TRUE(says(without(&Operands::d), "address of D is 0"));
  problem.beta = 0;
  plan = plan_of(problem);
  EXPECT_EQ(without(&Operands::c), "");
  problem.beta = 1;
  problem.k = 0;
  plan = plan_of(problem);
  EXPECT_EQ(without(&Operands::a), "");
  EXPECT_EQ(without(&Operands::b), "");
  problem.m = 0;
  plan = plan_of(problem);
  EXPECT_EQ(without(&Operands::d), "") << "nothing is written";
}

// The trailing update of a blocked LU, A22 -= A21 * A12, inside one column-major matrix.
constexpr int kSize = 48, kDone = 16;

struct LuUpdate {
  Problem problem{.m = kSize - kDone,
                  .n = kSize - kDone,
                  .k = kDone,
                  .lda = kSize,
                  .ldb = kSize,
                  .ldc = kSize,
                  .ldd = kSize,
                  .alpha = -1,
                  .beta = 1};
  Operands operands;

  explicit LuUpdate(DeviceAddress base) {
    const auto at = [&](int r, int c) { return base + 4u * static_cast<unsigned>(r + c * kSize); };
    operands = {at(kDone, 0), at(0, kDone), at(kDone, kDone), at(kDone, kDone)};
  }
};

std::vector<float> integers() {
  std::vector<float> matrix(kSize * kSize);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i * 37 % 11) - 5;
  return matrix;
}

TEST(Execute, TheTrailingUpdateOfABlockedLuRunsInPlace) {
  Device& device = test_device();
  std::vector<float> matrix = integers(), want = matrix;
  for (int c = kDone; c < kSize; ++c) {
    for (int r = kDone; r < kSize; ++r) {
      for (int l = 0; l < kDone; ++l) {
        want[r + c * kSize] -= matrix[r + l * kSize] * matrix[l + c * kSize];
      }
    }
  }
  const std::size_t bytes = matrix.size() * sizeof(float);
  for (const KernelChoice& choice : choose_kernels("01,07,12,simt_f32")) {
    const DeviceBuffer buffer(device, bytes);
    device.copy_in(buffer.address(), matrix.data(), bytes);
    const LuUpdate update(buffer.address());
    const gemm::Prepared prepared =
        gemm::prepare(device, gemm::plan(update.problem, gemm::alignment_of(update.operands),
                                         gemm::limits_of(device.info()), {.kernel = choice}));
    const DeviceBuffer workspace(device,
                                 static_cast<std::size_t>(prepared.plan().workspace_bytes()));
    gemm::execute(prepared, {update.operands, -1, 1, workspace.address(),
                             static_cast<std::int64_t>(workspace.bytes())});
    device.synchronize();
    std::vector<float> got(matrix.size());
    device.copy_out(got.data(), buffer.address(), bytes);
    EXPECT_EQ(got, want) << choice.kernel->name;
  }
}

TEST(Execute, OneSharedElementIsRefused) {
  LuUpdate update(0x10000);
  const gemm::Plan plan = plan_of(update.problem);
  gemm::Arguments arguments{update.operands, -1, 1, kWorkspace, plan.workspace_bytes()};
  EXPECT_EQ(refusal(plan, arguments), "");
  arguments.operands.a += kSize * 4;
  EXPECT_TRUE(says(refusal(plan, arguments), "D shares an element with A"));
}

// Integers: the same bits from one plan with other addresses, alignments and scales.
TEST(Execute, OnePlanServesManyAddresses) {
  Device& device = test_device();
  const Problem problem = with_default_ld({.m = 70, .n = 90, .k = 33, .alpha = 2, .beta = -3});
  const auto fill = [](std::size_t count, int step) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * step % 13) - 6;
    return values;
  };
  const std::vector<float> a = fill(70 * 33, 5), b = fill(33 * 90, 7), c = fill(70 * 90, 3);
  const gemm::Prepared prepared = gemm::prepare(
      device,
      gemm::plan(problem, {.a = 4, .b = 4, .c = 4, .d = 4}, gemm::limits_of(device.info())));
  const DeviceBuffer workspace(device, static_cast<std::size_t>(prepared.plan().workspace_bytes()));
  const DeviceBuffer memory(device, std::size_t{1} << 20);
  std::vector<float> first;
  for (const std::size_t shift : {0, 4, 8, 12, 256}) {
    const DeviceAddress base = memory.address() + shift;
    const Operands at{base, base + 0x10000, base + 0x20000, base + 0x40000};
    device.copy_in(at.a, a.data(), a.size() * 4);
    device.copy_in(at.b, b.data(), b.size() * 4);
    device.copy_in(at.c, c.data(), c.size() * 4);
    gemm::execute(prepared,
                  {at, 2, -3, workspace.address(), static_cast<std::int64_t>(workspace.bytes())});
    device.synchronize();
    std::vector<float> d(c.size());
    device.copy_out(d.data(), at.d, d.size() * 4);
    if (first.empty()) {
      first = d;
      float want = 0;
      for (int l = 0; l < 33; ++l) want += a[69 + 70 * l] * b[l + 33 * 89];
      EXPECT_EQ(d[69 + 70 * 89], 2 * want - 3 * c[69 + 70 * 89]);
    }
    EXPECT_EQ(d, first) << shift;
  }
}

// Equal inputs, equal plans: launches, parameters and patches.
TEST(Execute, PlansArePure) {
  for (const std::int64_t size : {100, 1000, 4097}) {
    const Problem problem{.m = size, .n = size - 3, .k = 800};
    const gemm::Plan first = plan_of(problem, {.a = 4}), again = plan_of(problem, {.a = 4});
    ASSERT_EQ(first.steps.size(), again.steps.size());
    for (std::size_t i = 0; i < first.steps.size(); ++i) {
      const gemm::Step &x = first.steps[i], &y = again.steps[i];
      EXPECT_EQ(x.launch.entry, y.launch.entry);
      EXPECT_EQ(x.launch.params, y.launch.params);
      EXPECT_EQ(x.addresses, y.addresses);
      EXPECT_EQ(x.maps, y.maps);
      EXPECT_EQ(x.scales, y.scales);
    }
  }
}

// No address of a plan is in its parameters: with other addresses only patches differ.
TEST(Execute, TensorMapsAreEncodedOnceAndMoved) {
  HostDevice device;
  const Problem problem{.m = 512, .n = 512, .k = 64, .op_b = Op::kTranspose};
  const gemm::Plan plan = plan_of(problem, {}, {.kernel = choose_kernels("simt_f32/64x64")[0]});
  const gemm::Prepared prepared = gemm::prepare(device, plan);
  EXPECT_EQ(device.images.size(), 1u);
  EXPECT_EQ(device.encodings, 2);
  for (const DeviceAddress shift : {0, 0x100}) {
    gemm::Arguments arguments = arguments_of(plan);
    arguments.operands.a += shift;
    device.launches.clear();
    gemm::execute(prepared, arguments, &device);
    ASSERT_EQ(device.launches.size(), 1u);
    EXPECT_EQ(device.launches[0].stream, &device);
    // Canonical A is the caller's B: column-major.
    DeviceAddress map[2];
    std::memcpy(&map[0], device.launches[0].params.data(), 8);
    std::memcpy(&map[1], device.launches[0].params.data() + 128, 8);
    EXPECT_EQ(map[0], kB);
    EXPECT_EQ(map[1], kA + shift);
  }
  EXPECT_EQ(device.encodings, 2);
}

TEST(Execute, AllocatesNothing) {
  HostDevice device;
  device.notes = false;
  for (const std::int64_t size : {64, 4096, 4097}) {
    const Problem problem{.m = size, .n = size, .k = size, .beta = 1};
    const gemm::Prepared prepared = gemm::prepare(device, plan_of(problem));
    const gemm::Arguments arguments = arguments_of(prepared.plan());
    const gemm::Arguments apart{{kA, kA + (1ull << 32), kA + (2ull << 32), kA + (3ull << 32)},
                                2,
                                3,
                                kA + (4ull << 32),
                                arguments.workspace_bytes};
    const long before = allocations();
    gemm::execute(prepared, apart);
    EXPECT_EQ(allocations() - before, 0) << size;
  }
}

}  // namespace
}  // namespace tessera
