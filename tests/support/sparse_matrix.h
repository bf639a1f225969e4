// Operands spread over more memory than a machine has: small integers in rows that begin beyond
// 2^31 elements, on a virtual GPU, whose memory exists only where it is touched.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/elements.h"
#include "device/buffer.h"
#include "lab/verify/prepared_call.h"

namespace tessera {

inline constexpr std::size_t kSparseMemory = std::size_t{1} << 42;  // bytes of such a GPU

// `count` matrices of one view, `stride` elements apart.
class SparseMatrix {
 public:
  SparseMatrix(Device& device, const MatrixView& view, ElementType type, std::int64_t stride = 0,
               std::int64_t count = 1)
      : device_(device),
        view_(view),
        type_(type),
        stride_(stride),
        count_(count),
        buffer_(device, static_cast<std::size_t>((count - 1) * stride + view.span()) *
                            static_cast<std::size_t>(size_of(type))) {}

  // A number from -3 to 3 that differs between neighbouring rows, columns and products.
  static double value(std::int64_t r, std::int64_t c, std::int64_t i) {
    return static_cast<double>((3 * r + 5 * c + i) % 7 - 3);
  }
  DeviceAddress address() const { return buffer_.address(); }

  void fill() const {
    each([&](std::int64_t r, std::int64_t c, std::int64_t i) {
      std::uint64_t element = 0;
      store_element(type_, value(r, c, i), &element);
      device_.copy_in(at(r, c, i), &element, static_cast<std::size_t>(size_of(type_)));
    });
  }
  double rounded(double sum) const {
    std::uint64_t element = 0;
    store_element(type_, sum, &element);
    return load_element(type_, &element);
  }
  double get(std::int64_t r, std::int64_t c, std::int64_t i) const {
    std::uint64_t element = 0;
    device_.copy_out(&element, at(r, c, i), static_cast<std::size_t>(size_of(type_)));
    return load_element(type_, &element);
  }
  template <class Body>
  void each(Body body) const {
    for (std::int64_t i = 0; i < count_; ++i) {
      for (std::int64_t r = 0; r < view_.rows; ++r) {
        for (std::int64_t c = 0; c < view_.cols; ++c) body(r, c, i);
      }
    }
  }

 private:
  DeviceAddress at(std::int64_t r, std::int64_t c, std::int64_t i) const {
    const std::int64_t element = i * stride_ + r * view_.row + c * view_.col;
    return buffer_.address() + static_cast<DeviceAddress>(element * size_of(type_));
  }

  Device& device_;
  MatrixView view_;
  ElementType type_;
  std::int64_t stride_, count_;
  DeviceBuffer buffer_;
};

// Runs the problem on such matrices and compares every element, bit for bit: sums of small
// integers are exact before they are rounded to D. Of epilogues, ReLU is allowed. Throws as
// PreparedCall does.
inline void expect_sparse_product(Device& device, const KernelChoice& choice,
                                  const Problem& problem, const gemm::PlanOptions& options = {}) {
  const Batch& batch = problem.batch;
  const std::int64_t count = batch.kind == BatchKind::kNone ? 1 : batch.count;
  const Types& types = problem.types;
  const SparseMatrix a(device, view_a(problem), types.a, batch.stride_a, count);
  const SparseMatrix b(device, view_b(problem), types.b, batch.stride_b, count);
  const SparseMatrix c(device, view_c(problem), types.c, batch.stride_c, count);
  const SparseMatrix d(device, view_d(problem), types.d, batch.stride_d, count);
  const Operands operands{a.address(), b.address(), problem.beta == 0 ? 0 : c.address(),
                          d.address()};
  const lab::PreparedCall call(device, choice, problem, gemm::alignment_of(operands), options);
  a.fill();
  b.fill();
  if (problem.beta != 0) c.fill();
  call.run(operands);
  int wrong = 0;
  d.each([&](std::int64_t i, std::int64_t j, std::int64_t product) {
    double sum = problem.beta * SparseMatrix::value(i, j, product);
    for (std::int64_t l = 0; l < problem.k; ++l) {
      sum +=
          problem.alpha * SparseMatrix::value(i, l, product) * SparseMatrix::value(l, j, product);
    }
    if (problem.epilogue.activation == Activation::kRelu) sum = std::max(sum, 0.0);
    sum = d.rounded(sum);
    const double seen = d.get(i, j, product);
    if (seen == sum || ++wrong > 3) return;
    ADD_FAILURE() << layout_of(problem) << " at " << i << ", " << j << " of product " << product
                  << ": " << seen << ", but the sum is " << sum;
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace tessera
