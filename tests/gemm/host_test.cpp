// Operands in host memory, in one go and by panels: the virtual GPU multiplies them, so every panel
// must meet its partners, whatever the order in which a GPU does its work. Integers, so sums are
// exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "device/virtual/virtual_device.h"
#include "gemm/host/batch.h"
#include "gemm/host/on_gpu.h"
#include "gemm/host/panels.h"
#include "gemm/host/side.h"
#include "gemm/host/whole.h"
#include "tests/support/late_device.h"

namespace tessera::gemm {
namespace {

std::vector<double> numbers(std::int64_t count, int seed) {
  std::vector<double> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] =
        static_cast<double>(static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5);
  }
  return all;
}

std::uint64_t address(const void* x) { return reinterpret_cast<std::uint64_t>(x); }

// A problem with its operands in host memory, and the D that it should have.
struct Call {
  explicit Call(const Problem& of) : problem(of) {
    const std::int64_t count = std::max<std::int64_t>(1, of.batch.count);
    const auto elements = [&](const MatrixView& view, std::int64_t stride) {
      return (count - 1) * stride + view.span();
    };
    a = numbers(elements(view_a(of), of.batch.stride_a), 1);
    b = numbers(elements(view_b(of), of.batch.stride_b), 4);
    c = numbers(elements(view_c(of), of.batch.stride_c), 9);
    d = numbers(elements(view_d(of), of.batch.stride_d), 6);
    scale = numbers(of.m, 3);
    bias = numbers(of.n, 2);
    expected = d;
    for (std::int64_t i = 0; i < count; ++i) expect_product(i);
  }
  Operands operands() const {
    return {address(a.data()), address(b.data()),     address(c.data()),
            address(d.data()), address(scale.data()), address(bias.data())};
  }

  Problem problem;
  std::vector<double> a, b, c, d, scale, bias, expected;

 private:
  void expect_product(std::int64_t number) {
    const Problem& p = problem;
    const MatrixView va = view_a(p), vb = view_b(p), vc = view_c(p), vd = view_d(p);
    const double* const at_a = a.data() + number * p.batch.stride_a;
    const double* const at_b = b.data() + number * p.batch.stride_b;
    const double* const at_c = c.data() + number * p.batch.stride_c;
    double* const at_d = expected.data() + number * p.batch.stride_d;
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          sum += at_a[i * va.row + l * va.col] * at_b[l * vb.row + j * vb.col];
        }
        double& value = at_d[i * vd.row + j * vd.col];
        value = p.alpha * sum + (p.beta != 0 ? p.beta * at_c[i * vc.row + j * vc.col] : 0);
        if (p.epilogue.is_identity()) continue;
        value = std::max(
            scale[static_cast<std::size_t>(i)] * value + bias[static_cast<std::size_t>(j)], 0.0);
      }
    }
  }
};

struct Shape {
  std::int64_t m, n, k;
};

Problem problem_of(const Shape& shape, const char* layout, Order order, double beta,
                   const char* epilogue = "none", std::int64_t gap = 0) {
  Problem problem{.m = shape.m, .n = shape.n, .k = shape.k};
  problem.types = kF64Types;
  problem.order = order;
  set_layout(problem, layout);
  problem.alpha = 2;
  problem.beta = beta;
  problem.epilogue = parse_epilogue(epilogue);
  problem = with_default_ld(problem);
  for (std::int64_t* ld : {&problem.lda, &problem.ldb, &problem.ldc, &problem.ldd}) *ld += gap++;
  return problem;
}

using Way = std::function<void(Handle&, host::Staging&, const Problem&, const Operands&)>;
const Way kByPanels = [](auto& handle, auto& staging, const auto& problem, const auto& operands) {
  host::multiply_by_panels(handle, staging, problem, operands, {}, nullptr);
};
const Way kWhole = [](auto& handle, auto& staging, const auto& problem, const auto& operands) {
  host::multiply_whole(handle, staging, problem, operands, {}, nullptr);
};
const Way kAsChosen = [](auto& handle, auto& staging, const auto& problem, const auto& operands) {
  host::multiply_from_host(handle, staging, problem, operands, {}, nullptr);
};

Device& gpu() {
  static const std::unique_ptr<Device> device = make_virtual_gpu(75);
  return *device;
}

// All calls on one handle, as in a program: each finds the buffers of the ones before it.
void compare_all(const Way& way, const std::vector<Problem>& problems, unsigned seed) {
  LateDevice device(gpu(), seed);
  Handle handle(device);
  host::Staging staging(device);
  for (const Problem& problem : problems) {
    Call call(problem);
    way(handle, staging, problem, call.operands());
    EXPECT_EQ(call.d, call.expected)
        << layout_of(problem) << ' ' << name_of(problem.order) << " beta " << problem.beta << " m "
        << problem.m << " batch " << problem.batch.count << " seed " << seed;
    EXPECT_EQ(device.pending(), 0u);
  }
}

std::vector<Problem> forms(const std::vector<Shape>& shapes) {
  std::vector<Problem> all;
  for (const Shape& shape : shapes) {
    for (const char* layout : {"NN", "TT"}) {
      all.push_back(problem_of(shape, layout, Order::kColumnMajor, 0));
      all.push_back(problem_of(shape, layout, Order::kRowMajor, -1, "none", 1));
      all.push_back(
          problem_of(shape, layout, Order::kColumnMajor, 1, "scale_row+bias_col+relu", 2));
      all.push_back(problem_of(shape, layout, Order::kRowMajor, 0, "scale_row+bias_col+relu"));
    }
  }
  return all;
}

TEST(Host, PanelsMeetTheirPartners) {
  unsigned seed = 0;
  for (const Shape& shape : {Shape{2100, 20, 5}, {9, 3100, 4}, {30, 17, 9}}) {
    compare_all(kByPanels, forms({shape}), ++seed);
  }
}

TEST(Host, SmallProblemsGoInAtOnce) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    compare_all(kWhole, forms({{30, 17, 9}, {1, 1, 1}, {1, 40, 33}, {70, 1, 12}, {8, 8, 0}}), seed);
  }
}

// Operands that are large enough to be on their way while the next ones are copied.
TEST(Host, CopiesOfASmallProblemOverlap) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    compare_all(kWhole, forms({{20, 30, 1200}, {200, 150, 3}}), seed);
  }
}

Problem batch_of(Problem problem, std::int64_t count, std::int64_t gap) {
  problem.batch = {.kind = BatchKind::kStrided,
                   .count = count,
                   .stride_a = view_a(problem).span() + gap,
                   .stride_b = view_b(problem).span() + gap,
                   .stride_c = view_c(problem).span() + gap,
                   .stride_d = view_d(problem).span() + gap};
  return problem;
}

TEST(Host, BatchesGoInGroups) {
  std::vector<Problem> all;
  for (const char* layout : {"NN", "TT"}) {
    for (const double beta : {0.0, -1.0}) {
      // The second one has products of 550 KB, so seven go together.
      for (const Shape& shape : {Shape{5, 6, 7}, {130, 40, 400}}) {
        const Problem one = batch_of(problem_of(shape, layout, Order::kRowMajor, beta), 9, 3);
        all.push_back(one);
        for (int shared = 1; shared < 8; ++shared) {
          Problem other = one;
          if (shared & 1) other.batch.stride_a = 0;
          if (shared & 2) other.batch.stride_b = 0;
          if (shared & 4) other.batch.stride_c = 0;
          if (shape.m == 5 || shared == 3) all.push_back(other);
        }
      }
    }
  }
  all.push_back(batch_of(
      problem_of({6, 9, 10}, "NT", Order::kColumnMajor, 1, "scale_row+bias_col+relu"), 4, 0));
  compare_all(kWhole, all, 5);
  compare_all(kAsChosen, all, 6);
}

// The last group is smaller, and the same plan multiplies it: all products have the same bits.
TEST(Host, OnePlanServesAllGroupsOfABatch) {
  LateDevice device(gpu(), 9);
  Handle handle(device);
  host::Staging staging(device);
  const Problem batch =
      batch_of(problem_of({130, 40, 400}, "NN", Order::kRowMajor, 0), 8, 0);  // 7 and 1
  Call call(batch);
  host::multiply_whole(handle, staging, batch, call.operands(), {}, nullptr);
  EXPECT_EQ(call.d, call.expected);
  EXPECT_EQ(handle.plans(), 1u);
}

// A product of a batch that is too large for the way of small ones.
TEST(Host, LargeProductsOfABatchGoByPanels) {
  const Problem one = batch_of(problem_of({2050, 260, 3}, "NN", Order::kColumnMajor, 1), 2, 1);
  EXPECT_FALSE(host::fits_whole(one));
  compare_all(kAsChosen, {one}, 7);
}

// Launches of three products, of which any may be the first that fails. Only before the first one
// is nothing written.
TEST(Host, AFailureAfterALaunchSaysSo) {
  const Problem batch = batch_of(problem_of({2050, 260, 3}, "NN", Order::kColumnMajor, 1), 3, 1);
  Call call(batch);
  int launches = 0, failing = -1;
  const auto code_of_call = [&] {
    LateDevice device(gpu(), 7);
    launches = 0;
    device.before_launch = [&] {
      if (launches++ == failing) throw StatusError(Status::unavailable("no launch"));
    };
    Handle handle(device);
    host::Staging staging(device);
    try {
      kAsChosen(handle, staging, batch, call.operands());
    } catch (const StatusError& error) {
      return error.status().code;
    }
    return StatusCode::kOk;
  };
  EXPECT_EQ(code_of_call(), StatusCode::kOk);
  const int all = launches;
  ASSERT_EQ(all % 3, 0);
  for (failing = 0; failing < all; ++failing) {
    EXPECT_EQ(code_of_call(), failing == 0 ? StatusCode::kUnavailable : StatusCode::kFailed)
        << failing << " of " << all;
  }
}

// The call has five panels. A launch fails while the results of earlier panels are being copied
// out; the next call uses the same buffers.
TEST(Host, NothingIsOnItsWayAfterAFailure) {
  Call call(problem_of({5200, 40, 3}, "NN", Order::kColumnMajor, 1));
  for (unsigned seed = 1; seed <= 6; ++seed) {
    bool has_failed = true;
    for (int failing = 0; has_failed; ++failing) {
      LateDevice device(gpu(), seed);
      int launches = 0;
      device.before_launch = [&] {
        if (launches++ == failing) throw StatusError(Status::unavailable("no launch"));
      };
      Handle handle(device);
      host::Staging staging(device);
      has_failed = false;
      try {
        kByPanels(handle, staging, call.problem, call.operands());
      } catch (const StatusError&) {
        has_failed = true;
      }
      EXPECT_EQ(device.pending(), 0u) << "launch " << failing << " seed " << seed;
    }
  }
}

// Buffers of earlier calls had other sizes: they give way where the memory is full.
TEST(Host, OperandsHaveTheMemoryOfEarlierCalls) {
  struct Case {
    const Way& way;
    std::vector<Shape> shapes;
  };
  const Case cases[] = {{kByPanels, {{2100, 20, 150}, {20, 2100, 150}, {1100, 1100, 2}}},
                        {kWhole, {{5, 6, 7}, {200, 100, 50}, {100, 300, 90}}}};
  for (const auto& [way, shapes] : cases) {
    for (std::size_t i = 0; i < shapes.size() * shapes.size(); ++i) {
      const Shape &first = shapes[i / shapes.size()], &second = shapes[i % shapes.size()];
      LateDevice device(gpu(), 3);
      Handle handle(device);
      host::Staging staging(device);
      Call before(problem_of(first, "NT", Order::kColumnMajor, 0)),
          after(problem_of(second, "NT", Order::kColumnMajor, 0));
      const auto release = [&] { staging.release_above(0); };
      const std::vector<double> untouched = after.d;
      way(handle, staging, before.problem, before.operands());
      release();
      const std::size_t all = device.memory;
      way(handle, staging, after.problem, after.operands());
      const std::size_t needed = all - device.memory;
      release();
      way(handle, staging, before.problem, before.operands());
      const std::size_t held = all - device.memory;
      device.memory = held < needed ? needed - held : 0;
      after.d = untouched;
      way(handle, staging, after.problem, after.operands());
      EXPECT_EQ(after.d, after.expected) << second.m << " after " << first.m;
    }
  }
}

TEST(Host, ListsOfAddresses) {
  LateDevice device(gpu(), 8);
  Handle handle(device);
  host::Staging staging(device);
  const Problem strided = batch_of(problem_of({5, 6, 7}, "NT", Order::kRowMajor, 1), 5, 3);
  Call call(strided);
  std::vector<std::uint64_t> lists[4];
  for (std::int64_t i = 0; i < 5; ++i) {
    const Operands at = host::operands_at(strided, call.operands(), i);
    lists[0].push_back(at.a), lists[1].push_back(at.b);
    lists[2].push_back(at.c), lists[3].push_back(at.d);
  }
  Problem problem = strided;
  problem.batch = {.kind = BatchKind::kPointers, .count = 5, .alignment = 8};
  host::multiply_from_host(handle, staging, problem,
                           {address(lists[0].data()), address(lists[1].data()),
                            address(lists[2].data()), address(lists[3].data())},
                           {}, nullptr);
  EXPECT_EQ(call.d, call.expected);
}

// The caller's own memory may be pinned: then it is copied without buffers.
TEST(Host, PinnedMemoryIsCopiedAsItIs) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    LateDevice device(gpu(), seed);
    Handle handle(device);
    host::Staging staging(device);
    const Problem problem = problem_of({2100, 20, 5}, "TN", Order::kColumnMajor, 1, "none", 2);
    Call call(problem);
    for (const auto* one : {&call.a, &call.b, &call.c, &call.d}) device.pin(one->data());
    host::multiply_by_panels(handle, staging, problem, call.operands(), {}, nullptr);
    EXPECT_EQ(call.d, call.expected);
  }
}

// A copy that the caller gave the stream before still brings A.
TEST(Host, EarlierWorkOfTheStreamIsDoneFirst) {
  for (const Way& way : {kWhole, kByPanels}) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      LateDevice device(gpu(), seed);
      Handle handle(device);
      host::Staging staging(device);
      Call call(problem_of({30, 17, 9}, "NN", Order::kColumnMajor, 0));
      const std::vector<double> a = call.a;
      const std::size_t bytes = a.size() * sizeof(double);
      const DeviceBuffer source(device, bytes);
      device.copy_in(source.address(), a.data(), bytes);
      std::fill(call.a.begin(), call.a.end(), -77.0);
      device.copy_out(call.a.data(), source.address(), {bytes, 1, bytes, bytes}, nullptr);
      way(handle, staging, call.problem, call.operands());
      EXPECT_EQ(call.d, call.expected);
    }
  }
}

// Lines of copies begin at multiples of 16 bytes, and take no more than that.
TEST(Host, CopiesTakeNoMoreThanTheirLines) {
  for (std::int64_t m = 1; m < 70; ++m) {
    LateDevice device(gpu(), 3);
    Handle handle(device);
    host::Staging staging(device);
    const std::size_t before = device.memory;
    Call call(problem_of({m, 3, 2}, "NN", Order::kColumnMajor, 0));
    kByPanels(handle, staging, call.problem, call.operands());
    const auto line = [](std::int64_t length) {
      const std::int64_t unit = length < 64 ? 2 : 32;
      return (length + unit - 1) / unit * unit * 8;
    };
    EXPECT_EQ(before - device.memory,
              static_cast<std::size_t>(2 * line(m) + 3 * line(2) + 3 * line(m)))
        << m;
  }
}

TEST(Host, TheCpuTakesWhatTakesEquallyLong) {
  EXPECT_TRUE((host::Sides{1, 1}).is_cpu_faster());
  EXPECT_FALSE((host::Sides{2, 1}).is_cpu_faster());
}

TEST(Host, WhatDoesNotFitIsRefused) {
  DeviceInfo info{.kind = DeviceKind::kCuda};
  info.memory_bytes = 3 * 1024 * 1024 * 8 - 1;
  Problem problem{.m = 1024, .n = 1024, .k = 1024};
  problem.types = kF64Types;
  problem = with_default_ld(problem);
  EXPECT_FALSE(host::check_panels(problem, info).ok());
  ++info.memory_bytes;
  EXPECT_TRUE(host::check_panels(problem, info).ok());
  problem.n = 1025;
  EXPECT_FALSE(host::check_panels(with_default_ld(problem), info).ok());
}

}  // namespace
}  // namespace tessera::gemm
