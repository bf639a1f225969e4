// Calls at the edge of what is legal: operands that touch D without sharing an element, workspaces
// of exactly the bytes that a plan needs, and launches of which a later one fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gemm/call/prepare.h"
#include "tests/support/host_device.h"

namespace tessera {
namespace {

gemm::Plan plan_of(const Problem& problem, const gemm::PlanOptions& options = {}) {
  return gemm::plan(problem, {.a = 1, .b = 1, .c = 1, .d = 1}, {.sm = 90, .sms = 132}, options);
}

// Exactly one launch fails, each in turn: before the first one nothing was launched, and the
// caller's status says so; after it the status is that of a failure on the way.
TEST(ExecuteEdges, ALaterLaunchFails) {
  const Problem problem{.m = 1000, .n = 1001, .k = 4000};
  const gemm::Plan plan = plan_of(problem);
  ASSERT_GT(plan.steps.size(), 1u);
  const gemm::Arguments arguments{
      {1 << 28, 2 << 28, 0, std::uint64_t{3} << 28}, 1, 0, 4096, plan.workspace_bytes()};
  for (std::size_t failing = 0; failing < plan.steps.size(); ++failing) {
    HostDevice device;
    const gemm::Prepared prepared = gemm::prepare(device, plan);
    std::size_t launched = 0;
    device.before_launch = [&] {
      if (launched++ == failing) throw StatusError(Status::unavailable("the GPU is gone"));
    };
    StatusCode code = StatusCode::kOk;
    try {
      gemm::execute(prepared, arguments);
    } catch (const StatusError& error) {
      code = error.status().code;
      EXPECT_STREQ(error.what(), "the GPU is gone");
    }
    EXPECT_EQ(code, failing == 0 ? StatusCode::kUnavailable : StatusCode::kFailed) << failing;
    EXPECT_EQ(device.launches.size(), failing) << "and none after it";
  }
}

// Operands side by side without a gap, D among them at every place; then each moved by one element
// into D.
TEST(ExecuteEdges, OperandsMayTouchDAndNotOverlapIt) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    const auto size = [&] { return 1 + static_cast<std::int64_t>(random() % 9); };
    Problem p{.m = size(), .n = size(), .k = size(), .beta = 1};
    p.order = random() % 2 ? Order::kRowMajor : Order::kColumnMajor;
    p.op_a = random() % 2 ? Op::kTranspose : Op::kNone;
    p.op_b = random() % 2 ? Op::kTranspose : Op::kNone;
    p.epilogue = {.scale = VectorKind::kPerRow, .bias = VectorKind::kPerColumn};
    p = with_default_ld(p);
    const std::int64_t elements[] = {
        view_a(p).span(), view_b(p).span(), view_c(p).span(), view_d(p).span(), p.m, p.n};
    int order[] = {0, 1, 2, 3, 4, 5};
    std::shuffle(std::begin(order), std::end(order), random);
    std::uint64_t at[6] = {}, next = 1 << 20;
    for (const int operand : order) {
      at[operand] = next;
      next += static_cast<std::uint64_t>(elements[operand]) * 4;
    }
    const gemm::Plan plan = plan_of(p, {.kernel = choose_kernels("simt_f32_sm75/64x64").front()});
    gemm::Arguments arguments{
        {at[0], at[1], at[2], at[3], at[4], at[5]}, 1, 1, 4096, plan.workspace_bytes()};
    EXPECT_TRUE(check(plan, arguments).ok()) << check(plan, arguments).message;
    const auto place = std::find(std::begin(order), std::end(order), 3) - std::begin(order);
    std::uint64_t* const addresses[] = {&arguments.operands.a,     &arguments.operands.b,
                                        &arguments.operands.c,     &arguments.operands.d,
                                        &arguments.operands.scale, &arguments.operands.bias};
    if (place > 0) {
      *addresses[order[place - 1]] += 4;
      const bool is_c_itself = arguments.operands.c == arguments.operands.d;
      EXPECT_EQ(check(plan, arguments).ok(), is_c_itself) << order[place - 1] << " reaches into D";
      *addresses[order[place - 1]] -= 4;
    }
    if (place < 5) {
      *addresses[order[place + 1]] -= 4;
      const bool is_c_itself = arguments.operands.c == arguments.operands.d;
      EXPECT_EQ(check(plan, arguments).ok(), is_c_itself) << order[place + 1] << " begins in D";
    }
  }
}

// A limit of exactly the bytes that a plan needs allows it; one byte less does not.
TEST(ExecuteEdges, WorkspaceLimitsAreExact) {
  int with_workspace = 0;
  std::mt19937 random(3);
  for (const Types& types : {kF32Types, kBf16Types, kTf32Types, kF64Types}) {
    for (int i = 0; i < 40; ++i) {
      const auto size = [&] { return 1 + static_cast<std::int64_t>(random() % 3000); };
      Problem p{.m = size(), .n = size(), .k = size() * (i % 3 == 0 ? 8 : 1), .types = types};
      p = with_default_ld(p);
      const gemm::Plan any = plan_of(p);
      for (const gemm::Candidate& offer : any.offers) {
        if (offer.workspace_bytes() == 0) continue;
        ++with_workspace;
        const gemm::Plan exact = plan_of(p, {.workspace_limit = offer.workspace_bytes()});
        EXPECT_LE(exact.workspace_bytes(), offer.workspace_bytes());
        EXPECT_LE(exact.offers.front().cost.total(), offer.cost.total() * 1.0001);
        const gemm::Plan less = plan_of(p, {.workspace_limit = offer.workspace_bytes() - 1});
        EXPECT_LT(less.workspace_bytes(), offer.workspace_bytes());
        break;
      }
    }
  }
  EXPECT_GT(with_workspace, 40);
}

}  // namespace
}  // namespace tessera
