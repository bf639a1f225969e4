// The C++ layer: views become problems, handles end by themselves, what is wrong is thrown.
#include "tessera/gemm.hpp"

#include <cmath>
#include <vector>

#include "tests/library/library.h"

namespace {

// What a std::mdspan looks like.
struct View {
  float* first;
  std::int64_t extents[2], strides[2];
  float* data_handle() const { return first; }
  std::int64_t extent(int i) const { return extents[i]; }
  std::int64_t stride(int i) const { return strides[i]; }
};

TEST_F(Library, ViewsBecomeProblems) {
  float x[64] = {};
  const auto a = tessera::row_major(x, 4, 2, 5), b = tessera::column_major(x, 2, 3, 7);
  const auto d = tessera::row_major(x, 4, 3);
  const tessera_problem p = tessera::problem_of(a, b, d, d);
  EXPECT_EQ(p.m, 4);
  EXPECT_EQ(p.n, 3);
  EXPECT_EQ(p.k, 2);
  EXPECT_EQ(p.order, TESSERA_ROW_MAJOR);
  EXPECT_EQ(p.op_a, TESSERA_N);
  EXPECT_EQ(p.lda, 5);
  EXPECT_EQ(p.op_b, TESSERA_T);
  EXPECT_EQ(p.ldb, 7);
  EXPECT_EQ(p.ldd, 3);
  EXPECT_EQ(p.type_a, TESSERA_F32);
  const tessera_problem q =
      tessera::problem_of(b.transposed(), a.transposed(), d.transposed(), d.transposed());
  EXPECT_EQ(q.order, TESSERA_COLUMN_MAJOR);
  EXPECT_EQ(q.op_a, TESSERA_T);
  EXPECT_EQ(q.op_b, TESSERA_N);
  EXPECT_EQ(q.ldd, 3);
  const View view = {x, {4, 2}, {5, 1}};
  EXPECT_EQ(tessera::problem_of(tessera::Matrix<float>(view), b, d, d).lda, 5);
  EXPECT_THROW(tessera::problem_of(a, a, d, d), std::invalid_argument);
  EXPECT_THROW(tessera::problem_of(a, b, d.transposed(), d), std::invalid_argument);
  EXPECT_THROW(tessera::problem_of(tessera::Matrix<float>(x, 4, 2, 2, 3), b, d, d),
               std::invalid_argument);
  EXPECT_THROW(tessera::row_major(std::span<float>(x), 8, 9), std::length_error);
}

TEST_F(Library, MultipliesInCpp) {
  const tessera::Handle cpu(TESSERA_CPU);
  const std::vector<double> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 2, 1, 0, 3};  // 2 x 3, 3 x 2
  std::vector<double> d(4), c = {1, 1, 1, 1};
  const auto in = tessera::row_major(std::span(a), 2, 3),
             by = tessera::row_major(std::span(b), 3, 2);
  const auto out = tessera::row_major(std::span(d), 2, 2),
             add = tessera::row_major(std::span(c), 2, 2);
  const tessera::Settings on_host = {.memory = TESSERA_HOST_MEMORY};
  cpu.matmul(in, by, out, on_host);
  EXPECT_EQ(d, (std::vector<double>{5, 11, 14, 23}));
  cpu.matmul(by.transposed(), in.transposed(), out.transposed(), on_host);
  EXPECT_EQ(d, (std::vector<double>{5, 11, 14, 23}));
  cpu.gemm(in, by, add, out, {.alpha = 2, .beta = -1, .memory = TESSERA_HOST_MEMORY});
  EXPECT_EQ(d, (std::vector<double>{9, 21, 27, 45}));
  tessera::Plan plan(cpu, tessera::problem_of(in, by, out, out, on_host));
  tessera::Plan moved = std::move(plan);
  EXPECT_EQ(moved.workspace_bytes(), 0u);
  moved.run(in, by, out);
  EXPECT_EQ(d, (std::vector<double>{5, 11, 14, 23}));
  EXPECT_THROW(moved.run(by, in, tessera::row_major(d.data(), 3, 3)), std::invalid_argument);
  EXPECT_EQ(cpu.explain(tessera::problem_of(in, by, out, out, on_host)).where, TESSERA_ON_CPU);
}

// Each matrix of a plan has its own leading dimension; that of C matters only if there is a C.
TEST_F(Library, APlanInCppKnowsItsLeadingDimensions) {
  const tessera::Handle cpu(TESSERA_CPU);
  std::vector<float> x(64, 1), d(64);
  const auto matrix = [](std::vector<float>& of, std::int64_t ld) {
    return tessera::row_major(of.data(), 2, 2, ld);
  };
  tessera::Settings settings;
  settings.memory = TESSERA_HOST_MEMORY;
  settings.beta = 1;
  const tessera::Plan plan(
      cpu, tessera::problem_of(matrix(x, 3), matrix(x, 4), matrix(x, 5), matrix(d, 6), settings));
  for (int changed = -1; changed < 4; ++changed) {
    const auto ld = [&](int i) { return 3 + i + (changed == i ? 1 : 0); };
    const auto run = [&] {
      plan.run(matrix(x, ld(0)), matrix(x, ld(1)), matrix(x, ld(2)), matrix(d, ld(3)), settings);
    };
    if (changed < 0) {
      EXPECT_NO_THROW(run());
    } else {
      EXPECT_THROW(run(), std::invalid_argument) << changed;
    }
  }
}

TEST_F(Library, EpiloguesInCpp) {
  const tessera::Handle cpu(TESSERA_CPU);
  const std::vector<float> a = {1, 2, 3, 4}, b = {1, 0, 0, 1}, scale = {1, -1}, bias = {10, 20};
  std::vector<float> d(4);
  const auto in = tessera::row_major(std::span(a), 2, 2),
             by = tessera::row_major(std::span(b), 2, 2);
  const auto out = tessera::row_major(std::span(d), 2, 2);
  tessera::Settings settings = {.memory = TESSERA_HOST_MEMORY,
                                .scale = tessera::per_row(std::span(scale)),
                                .bias = tessera::per_column(std::span(bias)),
                                .activation = TESSERA_RELU};
  cpu.matmul(in, by, out, settings);
  EXPECT_EQ(d, (std::vector<float>{11, 22, 7, 16}));
  tessera::Settings by_silu = settings;
  by_silu.activation = TESSERA_SILU;
  cpu.matmul(in, by, out, by_silu);
  EXPECT_NEAR(d[2], 7 / (1 + std::exp(-7.0)), 1e-6);
  const tessera::Plan plan(cpu, tessera::problem_of(in, by, out, out, settings));
  plan.run(in, by, out, settings);
  EXPECT_EQ(d, (std::vector<float>{11, 22, 7, 16}));
  EXPECT_THROW(plan.run(in, by, out), std::invalid_argument) << "without its epilogue";
  std::vector<float> x(4);
  tessera::Settings with_x = settings;
  with_x.x = x.data();
  with_x.bias = {};
  cpu.matmul(in, by, out, with_x);
  EXPECT_EQ(x, (std::vector<float>{1, 2, -3, -4}));
  EXPECT_EQ(d, (std::vector<float>{1, 2, 0, 0}));
  const std::vector<float> three(3);
  const std::vector<double> doubles(2);
  settings.bias = tessera::per_row(std::span(three));
  EXPECT_THROW(cpu.matmul(in, by, out, settings), std::invalid_argument) << "one too many";
  settings.bias = tessera::per_row(std::span(doubles));
  EXPECT_THROW(cpu.matmul(in, by, out, settings), std::invalid_argument) << "of another type";
}

TEST_F(Library, ErrorsAreThrown) {
  try {
    const tessera::Handle nowhere(99);
    FAIL() << "there is no such GPU";
  } catch (const tessera::Error& error) {
    EXPECT_EQ(error.status(), TESSERA_BAD_ARGUMENT);
    EXPECT_TRUE(says(error.what(), "gpu is 99")) << error.what();
  }
}

TEST_F(Library, StridesThatFitNoProblemAreNamed) {
  const auto said = [](std::int64_t rows_apart, std::int64_t columns_apart) -> std::string {
    float x[1];
    tessera::Matrix<float> m = tessera::row_major(x, 3, 4);
    m.row_stride = rows_apart;
    m.col_stride = columns_apart;
    try {
      tessera::detail::op_of(m, false, "A");
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said(4, 1) + said(1, 3), "");
  EXPECT_EQ(said(8, 2), "strides of A are 8 and 2, but one of them must be 1");
  EXPECT_EQ(said(3, 1),
            "strides of A are 3 and 1, but lines must not overlap: with rows of 4 elements the "
            "other stride, the ld, must be at least that");
  EXPECT_EQ(said(1, 2),
            "strides of A are 1 and 2, but lines must not overlap: with columns of 3 elements the "
            "other stride, the ld, must be at least that");
}

}  // namespace
