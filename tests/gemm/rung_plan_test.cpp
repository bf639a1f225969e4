// How rungs are planned when they are named: the row of the majors, one linear grid, packed
// copies of what is read, and what they refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "gemm/plan/plan.h"

namespace tessera {
namespace {

gemm::Plan plan_of(const char* kernel, const Problem& problem) {
  return gemm::plan(problem, {}, {.sms = 132}, {.kernel = choose_kernels(kernel).front()});
}

Status refusal_of(const char* kernel, const Problem& problem) {
  try {
    plan_of(kernel, problem);
  } catch (const StatusError& error) {
    return error.status();
  }
  return {};
}

// Column-major is row-major with the operands exchanged: the majors follow.
TEST(RungPlan, PicksTheRowOfTheOperandSides) {
  const auto entry = [&](Order order, const char* layout) {
    Problem p{.m = 4, .n = 4, .k = 4, .order = order};
    set_layout(p, layout);
    const std::string name = plan_of("12", p).row().entry;
    return name.substr(name.size() - 5);
  };
  EXPECT_EQ(entry(Order::kRowMajor, "NN"), "ak_bn");
  EXPECT_EQ(entry(Order::kRowMajor, "TN"), "am_bn");
  EXPECT_EQ(entry(Order::kRowMajor, "NT"), "ak_bk");
  EXPECT_EQ(entry(Order::kRowMajor, "TT"), "am_bk");
  EXPECT_EQ(entry(Order::kColumnMajor, "NN"), "ak_bn");
  EXPECT_EQ(entry(Order::kColumnMajor, "NT"), "am_bn");
  EXPECT_EQ(entry(Order::kColumnMajor, "TN"), "ak_bk");
  EXPECT_EQ(entry(Order::kColumnMajor, "TT"), "am_bk");
}

TEST(RungPlan, RefusesWhatAKernelCannotRun) {
  EXPECT_EQ(refusal_of("01", {.m = 8, .n = 8, .k = 8, .types = kF64Types}).code,
            StatusCode::kUnsupported);
  EXPECT_TRUE(refusal_of("01", {.m = 8, .n = 8, .k = 8}).ok());
  const Status grid = refusal_of("01", {.m = 1 << 22, .n = 1 << 22, .k = 1});
  EXPECT_EQ(grid.code, StatusCode::kUnsupported);
  EXPECT_NE(grid.message.find("2^31 - 1 thread blocks"), std::string::npos) << grid.message;
  const Kernel& kernel = *choose_kernels("01").front().kernel;
  try {
    gemm::plan({.m = 8, .n = 8, .k = 8}, {}, {}, {.kernel = KernelChoice{&kernel, "none"}});
    FAIL() << "a variant that is not there";
  } catch (const StatusError& error) {
    EXPECT_NE(std::string(error.what()).find("'none'"), std::string::npos) << error.what();
  }
}

TEST(RungPlan, NoKernelTakesMoreTilesThanItCounts) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 29;
  for (const Kernel& kernel : all_kernels()) {
    const Status status =
        refusal_of(kernel.name.c_str(), {.m = kLarge, .n = kLarge, .k = 16, .types = kernel.types});
    EXPECT_EQ(status.code, StatusCode::kUnsupported) << kernel.name << " " << status.message;
  }
}

// What applies an epilogue last has a thread for each four neighbours of D, up to a few blocks per
// SM.
TEST(RungPlan, FinishesWithAThreadForFourElements) {
  for (const auto& [m, n] :
       {std::array{1, 1}, {3, 5}, {64, 64}, {100, 333}, {700, 900}, {5000, 6000}}) {
    Problem p{.m = m, .n = n, .k = 3, .order = Order::kRowMajor};
    p.epilogue = parse_epilogue("relu");
    const gemm::Plan plan = plan_of("12", p);
    const gemm::Step& last = plan.steps.back();
    ASSERT_TRUE(last.launch.entry.starts_with("finish__"));
    const std::int64_t threads = std::int64_t{m} * ((n + 3) / 4), block = last.launch.shape.block;
    const std::int64_t blocks = (threads + block - 1) / block;
    const std::int64_t grid = last.launch.shape.grid;
    EXPECT_TRUE(grid == blocks || (grid < blocks && grid % 132 == 0))
        << m << " " << n << " " << grid;
  }
}

TEST(RungPlan, CoversTheOutputWithALinearGrid) {
  const gemm::Plan plan = plan_of("12", {.m = 129, .n = 257, .k = 9, .order = Order::kRowMajor});
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].launch.shape.grid, 2 * 3);
  EXPECT_EQ(plan.steps[0].launch.shape.block, 256);
  EXPECT_EQ(plan.workspace_bytes(), 0);
}

TEST(RungPlan, LaunchesNothingForAnEmptyOutput) {
  for (const Kernel& kernel : all_kernels()) {
    for (const auto& [m, n] : {std::pair{0, 5}, {5, 0}}) {
      const gemm::Plan plan =
          plan_of(kernel.name.c_str(), {.m = m, .n = n, .k = 5, .types = kernel.types});
      EXPECT_TRUE(plan.steps.empty()) << kernel.name;
      EXPECT_EQ(plan.workspace_bytes(), 0) << kernel.name;
    }
  }
}

TEST(RungPlan, PacksOnlyWhatIsRead) {
  Problem p{.m = 9, .n = 8, .k = 7, .types = kF64Types};
  EXPECT_EQ(plan_of("21", p).steps.size(), 3u);
  // Canonical A is 8 x 7 -> 64, B is 7 x 9 -> 8 x 16 = 128 doubles.
  EXPECT_EQ(plan_of("21", p).workspace_bytes(), (64 + 128) * 8);
  p.alpha = 0;
  EXPECT_EQ(plan_of("21", p).steps.size(), 1u);
  EXPECT_EQ(plan_of("21", p).workspace_bytes(), 0);
}

// A thread for each element of the padded copy, in blocks of 256.
TEST(RungPlan, PacksWithAThreadForEachElement) {
  for (const auto& [m, n, k] : {std::array{9, 8, 7}, {300, 17, 900}, {5, 1000, 64}}) {
    const gemm::Plan plan = plan_of("21", {.m = m, .n = n, .k = k, .types = kF64Types});
    ASSERT_EQ(plan.steps.size(), 3u);
    std::int64_t bytes = 0, threads = 0;
    for (int i = 0; i < 2; ++i) {
      const LaunchShape& shape = plan.steps[i].launch.shape;
      const std::int64_t begin = plan.steps[i].addresses[1].address.delta;
      const std::int64_t end =
          i == 0 ? plan.steps[1].addresses[1].address.delta : plan.workspace_bytes();
      bytes += end - begin;
      threads += shape.grid * shape.block;
      EXPECT_EQ(shape.grid, ((end - begin) / 8 + 255) / 256) << i;
    }
    EXPECT_EQ(bytes, plan.workspace_bytes());
    EXPECT_GE(threads, bytes / 8);
  }
}

// Packed B is after packed A, and the product reads both there.
TEST(RungPlan, TheProductReadsThePackedCopies) {
  const gemm::Plan plan = plan_of("21", {.m = 9, .n = 8, .k = 7, .types = kF64Types});
  const gemm::PlannedAddress a{gemm::Slot::kWorkspace, 0}, b{gemm::Slot::kWorkspace, 64 * 8, 1};
  using Patches = std::vector<gemm::AddressPatch>;
  EXPECT_EQ(plan.steps[0].addresses, (Patches{{offsetof(PackParams, source), {gemm::Slot::kB}},
                                              {offsetof(PackParams, packed), a, Use::kWritten}}));
  EXPECT_EQ(plan.steps[1].addresses, (Patches{{offsetof(PackParams, source), {gemm::Slot::kA}},
                                              {offsetof(PackParams, packed), b, Use::kWritten}}));
  EXPECT_EQ(plan.steps[2].addresses,
            (Patches{{offsetof(GemmParams, a), a},
                     {offsetof(GemmParams, b), b},
                     {offsetof(GemmParams, c), {gemm::Slot::kC}},
                     {offsetof(GemmParams, d), {gemm::Slot::kD}, Use::kWritten}}));
}

// Legal operands whose padded copies would be larger than 63 bits can count.
TEST(RungPlan, RefusesPackedCopiesBeyond63Bits) {
  Problem p{.m = 1, .n = 1, .k = std::int64_t{1} << 55, .types = kF64Types};
  EXPECT_EQ(plan_of("24", p).workspace_bytes(), std::int64_t{1} << 62);
  for (const int shift : {56, 57, 58, 59}) {
    p.k = std::int64_t{1} << shift;
    ASSERT_TRUE(check(with_default_ld(p)).ok());
    EXPECT_EQ(refusal_of("24", p).code, StatusCode::kUnsupported);
  }
}

// Every kernel of the catalog has a host file that plans it.
TEST(RungPlan, EveryFamilyIsThere) {
  for (const Kernel& kernel : all_kernels()) {
    EXPECT_NO_THROW(gemm::family_of(kernel)) << kernel.name;
  }
  Kernel stranger = all_kernels().front();
  stranger.family = "nobody";
  EXPECT_THROW(gemm::family_of(stranger), StatusError);
}

}  // namespace
}  // namespace tessera
