// Operands in host memory by panels: the virtual GPU multiplies them, so every panel must meet its
// partners. Integers, so sums are exact.
#include "gemm/host/panels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "device/virtual/virtual_device.h"

namespace tessera::gemm {
namespace {

struct Shape {
  std::int64_t m, n, k;
};

std::vector<double> numbers(std::int64_t count, int seed) {
  std::vector<double> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] =
        static_cast<double>(static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5);
  }
  return all;
}

std::uint64_t address(const std::vector<double>& x) {
  return reinterpret_cast<std::uint64_t>(x.data());
}

void compare(Handle& handle, const Shape& shape, const char* layout, Order order, double beta,
             const char* epilogue = "none") {
  Problem problem{.m = shape.m, .n = shape.n, .k = shape.k};
  problem.types = kF64Types;
  problem.order = order;
  set_layout(problem, layout);
  problem.alpha = 2;
  problem.beta = beta;
  problem.epilogue = parse_epilogue(epilogue);
  problem = with_default_ld(problem);
  const std::vector<double> scale = numbers(shape.m, 3), bias = numbers(shape.n, 2);
  const MatrixView va = view_a(problem), vb = view_b(problem), vd = view_d(problem);
  const std::vector<double> a = numbers(va.span(), 1), b = numbers(vb.span(), 4);
  std::vector<double> d = numbers(vd.span(), 6), expected = d;
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < shape.k; ++p) {
        sum += a[i * va.row + p * va.col] * b[p * vb.row + j * vb.col];
      }
      double& value = expected[i * vd.row + j * vd.col];
      value = 2 * sum + beta * value;
      if (problem.epilogue.is_identity()) continue;
      value = std::max(
          scale[static_cast<std::size_t>(i)] * value + bias[static_cast<std::size_t>(j)], 0.0);
    }
  }
  const Operands operands{address(a), address(b),     address(d),
                          address(d), address(scale), address(bias)};
  host::multiply_by_panels(handle, problem, operands, {}, nullptr);
  EXPECT_EQ(d, expected) << layout << " beta " << beta << " m " << shape.m;
}

TEST(Host, PanelsMeetTheirPartners) {
  const auto device = make_virtual_gpu(75);
  Handle handle(*device);
  for (const Shape& shape : {Shape{2100, 20, 5}, {9, 3100, 4}, {30, 17, 9}}) {
    for (const char* layout : {"NN", "TT"}) {
      compare(handle, shape, layout, Order::kColumnMajor, 0);
      compare(handle, shape, layout, Order::kRowMajor, -1);
      compare(handle, shape, layout, Order::kColumnMajor, 1, "scale_row+bias_col+relu");
      compare(handle, shape, layout, Order::kRowMajor, 0, "scale_row+bias_col+relu");
    }
  }
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
