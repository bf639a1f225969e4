// The one-shot call: the cache finds what it has prepared, forgets what was used longest ago, and a
// stream has a workspace of its own.
#include "gemm/call/multiply.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/host_device.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

const Problem kProblem{.m = 300, .n = 200, .k = 100};

// Whatever sets two calls apart is in the hash, so that no call waits for a list of others.
TEST(Multiply, EveryFieldIsInTheHash) {
  const Problem batch = [] {
    Problem p = with_default_ld(kProblem);
    p.batch = {BatchKind::kStrided, 3, 40000, 30000, 70000, 70001, 16};
    return p;
  }();
  const gemm::PlanKey key{batch, {}, {}};
  std::vector<gemm::PlanKey> others(24, key);
  auto next = others.begin();
  for (std::int64_t Problem::*field : {&Problem::m, &Problem::n, &Problem::k, &Problem::lda,
                                       &Problem::ldb, &Problem::ldc, &Problem::ldd}) {
    ++((next++)->problem.*field);
  }
  for (std::int64_t Batch::*field :
       {&Batch::count, &Batch::stride_a, &Batch::stride_b, &Batch::stride_c, &Batch::stride_d}) {
    ++((next++)->problem.batch.*field);
  }
  for (ElementType Types::*field : {&Types::a, &Types::b, &Types::c, &Types::d}) {
    (next++)->problem.types.*field = ElementType::kBf16;
  }
  (next++)->problem.order = Order::kRowMajor;
  (next++)->problem.op_a = Op::kTranspose;
  (next++)->problem.op_b = Op::kTranspose;
  (next++)->problem.epilogue = parse_epilogue("relu");
  (next++)->problem.alpha = 0;
  (next++)->problem.beta = 1;
  (next++)->alignment.b = 8;
  (next++)->options.workspace_limit = 1;
  ASSERT_EQ(next, others.end());
  const gemm::PlanKeyHash hash;
  for (const gemm::PlanKey& other : others) {
    EXPECT_FALSE(other == key) << &other - others.data();
    EXPECT_NE(hash(other), hash(key)) << &other - others.data();
  }
}

// Two options are equal where they name the same kernel and variant, or none.
TEST(Multiply, OptionsThatNameAnotherKernelAreOthers) {
  std::vector<gemm::PlanOptions> all(1);
  for (const Kernel& kernel : all_kernels()) {
    for (const KernelRow& row : kernel.rows) {
      if (all.size() < 40) all.push_back({.kernel = KernelChoice{&kernel, row.variant}});
    }
  }
  const auto name_of = [](const gemm::PlanOptions& options) {
    return options.kernel ? options.kernel->kernel->name + "/" + options.kernel->variant : "";
  };
  for (const gemm::PlanOptions& x : all) {
    for (const gemm::PlanOptions& y : all) {
      EXPECT_EQ(x == y, name_of(x) == name_of(y)) << name_of(x) << " " << name_of(y);
    }
  }
}

TEST(Multiply, EqualCallsShareAPlan) {
  HostDevice device;
  gemm::Handle handle(device);
  const auto plan = [&](const Problem& problem, const gemm::Alignment& alignment = {},
                        const gemm::PlanOptions& options = {}) {
    return handle.prepared(problem, alignment, options);
  };
  const auto first = plan(kProblem);
  EXPECT_EQ(plan(kProblem), first);
  EXPECT_EQ(plan(with_default_ld(kProblem)), first);
  Problem scaled = kProblem;
  scaled.alpha = -2.5;
  EXPECT_EQ(plan(scaled), first) << "the value of alpha is no part of a plan";
  EXPECT_EQ(handle.plans(), 1u);

  const auto differs = [&](auto change) {
    Problem problem = with_default_ld(kProblem);
    change(problem);
    const auto other = plan(with_default_ld(problem));
    EXPECT_NE(other, first);
    EXPECT_EQ(plan(with_default_ld(problem)), other);
  };
  differs([](Problem& p) { p.m = 200, p.lda = p.ldc = p.ldd = 300; });
  differs([](Problem& p) { p.n = 199; });
  differs([](Problem& p) { p.k = 99; });
  differs([](Problem& p) { p.alpha = 0; });
  differs([](Problem& p) { p.beta = 2; });
  differs([](Problem& p) { p.lda = 301; });
  differs([](Problem& p) { p.ldb = 301; });
  differs([](Problem& p) { p.ldc = 301; });
  differs([](Problem& p) { p.ldd = 301; });
  differs([](Problem& p) { p.op_a = Op::kTranspose, p.lda = 300; });
  differs([](Problem& p) { p.op_b = Op::kTranspose, p.ldb = 200; });
  differs([](Problem& p) { p.order = Order::kRowMajor, p.lda = p.ldb = p.ldc = p.ldd = 300; });
  EXPECT_NE(plan(kProblem, {.a = 8}), first);
  EXPECT_NE(plan(kProblem, {.d = 8}), first);
  EXPECT_NE(plan(kProblem, {}, {.workspace_limit = 1 << 30}), first);
  EXPECT_NE(plan(kProblem, {}, {.split = gemm::Policy::kNever}), first);
  EXPECT_NE(plan(kProblem, {}, {.repack = gemm::Policy::kNever}), first);
  EXPECT_NE(plan(kProblem, {}, {.remainder = gemm::Policy::kNever}), first);
  EXPECT_NE(plan(kProblem, {}, {.kernel = choose_kernels("12")[0]}), first);
  EXPECT_NE(plan(kProblem, {}, {.kernel = choose_kernels("12/staged")[0]}),
            plan(kProblem, {}, {.kernel = choose_kernels("12")[0]}));
  EXPECT_EQ(plan(kProblem), first);
}

TEST(Multiply, ForgetsWhatWasUsedLongestAgo) {
  HostDevice device;
  gemm::Handle handle(device, 2);
  const auto plan = [&](std::int64_t m) { return handle.prepared({.m = m, .n = 8, .k = 8}, {}); };
  const auto one = plan(1), two = plan(2);
  EXPECT_EQ(plan(1), one);
  const auto three = plan(3);  // instead of 2
  EXPECT_EQ(handle.plans(), 2u);
  EXPECT_EQ(plan(1), one);
  EXPECT_EQ(plan(3), three);
  EXPECT_NE(plan(2), two);
  EXPECT_EQ(two->plan().problem.m, 2) << "who holds it may still use it";
}

// Calls of several threads on one stream share its workspace: the launches of each stay together.
TEST(Multiply, LaunchesOfTwoCallsDoNotMixOnAStream) {
  HostDevice device;
  gemm::Handle handle(device);
  const Problem problem{.m = 1000, .n = 1001, .k = 4000};
  const Operands operands{0x100000000, 0x200000000, 0, 0x300000000};
  const auto plan = handle.prepared(problem, gemm::alignment_of(operands));
  ASSERT_GT(plan->plan().workspace_bytes(), 0);
  ASSERT_GT(plan->launches(), 1u);
  int stream = 0;
  std::future<void> other;
  std::atomic<int> launches = 0;
  device.before_launch = [&] {
    if (++launches != 2) return;
    // Between two launches of a call another one begins; it has this long to come between them.
    other = std::async(std::launch::async,
                       [&] { gemm::multiply(handle, problem, operands, {}, &stream); });
    other.wait_for(std::chrono::milliseconds(100));
  };
  gemm::multiply(handle, problem, operands, {}, &stream);
  other.get();
  ASSERT_EQ(device.launches.size(), 2 * plan->launches());
  for (std::size_t i = 0; i < device.launches.size(); ++i) {
    const std::string& want = plan->plan().steps[i % plan->launches()].launch.entry;
    ASSERT_EQ(device.launches[i].entry, want) << i;
  }
}

TEST(Multiply, RefusesBeforeAnythingIsLaunched) {
  HostDevice device;
  gemm::Handle handle(device);
  Problem bad = kProblem;
  bad.lda = 299;
  const Operands operands{0x10000000, 0x20000000, 0, 0x40000000};
  EXPECT_THROW(gemm::multiply(handle, bad, operands), StatusError);
  EXPECT_THROW(gemm::multiply(handle, kProblem, {0x10000000, 0x20000000, 0, 0x10000004}),
               StatusError);
  EXPECT_TRUE(device.launches.empty());
  EXPECT_NO_THROW(gemm::multiply(handle, kProblem, operands));
  EXPECT_FALSE(device.launches.empty());
}

TEST(Multiply, MultipliesOnADevice) {
  Device& device = test_device();
  gemm::Handle handle(device);
  const DeviceBuffer memory(device, 4096);
  const std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};  // column-major
  const Operands at{memory.address(), memory.address() + 256, 0, memory.address() + 512};
  device.copy_in(at.a, a.data(), 16);
  device.copy_in(at.b, b.data(), 16);
  for (const double alpha : {1.0, -2.0}) {
    gemm::multiply(handle, {.m = 2, .n = 2, .k = 2, .alpha = alpha}, at);
    device.synchronize();
    std::vector<float> d(4);
    device.copy_out(d.data(), at.d, 16);
    const auto scale = static_cast<float>(alpha);
    EXPECT_EQ(d, (std::vector<float>{23 * scale, 34 * scale, 31 * scale, 46 * scale}));
  }
  EXPECT_EQ(handle.plans(), 1u);
}

// A call whose code must be loaded first does not hold up the others.
TEST(Multiply, AWarmCallDoesNotWaitForAColdOne) {
  HostDevice device;
  gemm::Handle handle(device);
  const auto warm = handle.prepared(kProblem, {});
  bool found = false;
  device.while_loading = [&] {
    auto other = std::async(std::launch::async, [&] { return handle.prepared(kProblem, {}); });
    found = other.wait_for(std::chrono::seconds(20)) == std::future_status::ready &&
            other.get() == warm;
    if (!found) std::quick_exit(1);  // it waits for us for ever
  };
  EXPECT_NE(handle.prepared({.m = 8, .n = 8, .k = 8}, {}), warm);
  EXPECT_TRUE(found);
}

// Two threads that prepare the same problem at a time end up with one plan.
TEST(Multiply, OneOfTwoEqualColdCallsIsKept) {
  HostDevice device;
  gemm::Handle handle(device);
  std::shared_ptr<const gemm::Prepared> inner;
  bool is_first = true;
  device.while_loading = [&] {
    if (std::exchange(is_first, false)) inner = handle.prepared(kProblem, {});
  };
  EXPECT_EQ(handle.prepared(kProblem, {}), inner);
  EXPECT_EQ(handle.plans(), 1u);
}

// The cache under several threads: each gets the plan that it asked for.
TEST(Multiply, ThreadsShareAHandle) {
  HostDevice device;
  device.notes = false;
  gemm::Handle handle(device, 4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::int64_t m = 1 + (i * (t + 1)) % 9;
        EXPECT_EQ(handle.prepared({.m = m, .n = 8, .k = 8}, {})->plan().problem.m, m);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(handle.plans(), 4u);
}

}  // namespace
}  // namespace tessera
