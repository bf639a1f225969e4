// Epilogues of operands in host memory: on the CPU, and by panels with the stand-in driver.
#include <cstddef>
#include <vector>

#include "tests/library/library.h"

namespace {

TEST_F(Library, EpiloguesOnTheCpu) {
  const tessera_handle cpu = made(TESSERA_CPU);
  const std::vector<float> a = {1, -2, 3, 4}, b = {1, 0, 0, 1};  // column-major; b is the identity
  const std::vector<float> c = {1, 1, 1, 1}, scale = {2, 0.5f}, bias = {-5, 1};
  std::vector<float> d(4);
  tessera_problem p = {.size = sizeof p, .m = 2, .n = 2, .k = 2, .type_a = TESSERA_F32};
  p.memory = TESSERA_HOST_MEMORY;
  tessera_arguments in = {.size = sizeof in,
                          .alpha = 1,
                          .beta = 2,
                          .a = a.data(),
                          .b = b.data(),
                          .c = c.data(),
                          .d = d.data(),
                          .bias = bias.data(),
                          .scale = scale.data()};
  const auto expect_d = [&](std::vector<float> wanted) {
    EXPECT_EQ(tessera_gemm_with(cpu, &p, nullptr, &in), TESSERA_OK) << tessera_last_message();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(d[i], wanted[i], 1e-6) << i;
  };
  // a b + 2 c is 3 0 5 6 down the columns.
  p.scale = TESSERA_SCALE_PER_ROW;
  p.bias = TESSERA_BIAS_PER_COLUMN;
  expect_d({1, -5, 11, 4});
  p.activation = TESSERA_RELU;
  expect_d({1, 0, 11, 4});
  p.activation = TESSERA_GELU;
  expect_d({0.841192f, -2.29180e-7f, 11, 3.999930f});
  p.activation = TESSERA_GELU_ERF;
  expect_d({0.841345f, -1.43326e-6f, 11, 3.999873f});
  p.activation = TESSERA_SILU;
  expect_d({0.731059f, -0.0334643f, 10.999816f, 3.928055f});
  p.order = TESSERA_ROW_MAJOR;  // 3 0 5 6 along the rows
  p.activation = TESSERA_NO_ACTIVATION;
  expect_d({1, 1, -2.5f, 4});
  p.scale = TESSERA_SCALE_PER_COLUMN;
  p.bias = TESSERA_BIAS_PER_ROW;
  expect_d({1, -5, 11, 4});
  // Callers that were compiled before there were packed operands, and before there was a scale.
  in.size = offsetof(tessera_arguments, packed_a);
  expect_d({1, -5, 11, 4});
  p.scale = TESSERA_NO_SCALE;
  in.size = offsetof(tessera_arguments, scale);
  expect_d({-2, -5, 6, 7});
  in.size = offsetof(tessera_arguments, scale) - 8;
  EXPECT_EQ(tessera_gemm_with(cpu, &p, nullptr, &in), TESSERA_BAD_ARGUMENT);
  expect_said("size of arguments is 96, but must be sizeof the struct, 136");
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

// X is D before its activation. Of operands in host memory the CPU writes both.
TEST_F(Library, AnAuxiliaryOutputOfHostMemory) {
  const float a[] = {1, 2, 3, 4}, b[] = {1, 0, 0, -1}, bias[] = {10, -20};
  float d[4] = {}, x[5] = {7, 7, 7, 7, 7};
  tessera_problem p = {.size = sizeof p, .m = 2, .n = 2, .k = 2, .type_a = TESSERA_F32};
  p.order = TESSERA_ROW_MAJOR;
  p.memory = TESSERA_HOST_MEMORY;
  p.bias = TESSERA_BIAS_PER_COLUMN;
  p.activation = TESSERA_RELU;
  p.auxiliary = TESSERA_BEFORE_ACTIVATION;
  p.ldx = 3;
  tessera_arguments in = {.size = sizeof in, .alpha = 1, .a = a, .b = b, .d = d, .bias = bias};
  const tessera_handle cpu = made(TESSERA_CPU);
  EXPECT_EQ(tessera_gemm_with(cpu, &p, nullptr, &in), TESSERA_BAD_ARGUMENT);
  expect_said("x of arguments is null, but the problem has an auxiliary output");
  in.x = x;
  EXPECT_EQ(tessera_gemm_with(cpu, &p, nullptr, &in), TESSERA_OK) << tessera_last_message();
  EXPECT_FALSE(launched());
  EXPECT_EQ(std::vector<float>(x, x + 5), (std::vector<float>{11, -22, 7, 13, -24}));
  EXPECT_EQ(std::vector<float>(d, d + 4), (std::vector<float>{11, 0, 13, 0}));
  EXPECT_EQ(tessera_gemm_with(handle_, &p, nullptr, &in), TESSERA_UNSUPPORTED);
  expect_said("from where the GPU copies back D and no other output yet");
  p.ldx = 1;
  EXPECT_EQ(tessera_gemm_with(cpu, &p, nullptr, &in), TESSERA_BAD_ARGUMENT);
  expect_said("ldx is 1, but must be at least 2");
  // Callers that were compiled before there was one.
  p = {.size = offsetof(tessera_problem, auxiliary), .m = 2, .n = 2, .k = 2};
  p.type_a = TESSERA_F32;
  p.order = TESSERA_ROW_MAJOR;
  p.memory = TESSERA_HOST_MEMORY;
  in = {.size = offsetof(tessera_arguments, x), .alpha = 1, .a = a, .b = b, .d = d};
  EXPECT_EQ(tessera_gemm_with(cpu, &p, nullptr, &in), TESSERA_OK) << tessera_last_message();
  EXPECT_EQ(std::vector<float>(d, d + 4), (std::vector<float>{1, -2, 3, -4}));
  EXPECT_EQ(tessera_destroy(cpu), TESSERA_OK);
}

// The vectors of an epilogue go to the GPU whole, and each part of D is given its own piece.
TEST_F(Library, PanelsHaveTheirPiecesOfAnEpilogue) {
  const std::int64_t m = 2500, n = 2100;
  std::vector<double> a(m * 2), b(2 * n), d(m * n), scale(m, 2), bias(n, 1);
  tessera_problem p = {.size = sizeof p, .m = m, .n = n, .k = 2, .type_a = TESSERA_F64};
  p.memory = TESSERA_HOST_MEMORY;
  p.scale = TESSERA_SCALE_PER_ROW;
  p.bias = TESSERA_BIAS_PER_COLUMN;
  p.activation = TESSERA_RELU;
  const tessera_arguments in = {.size = sizeof in,
                                .alpha = 1,
                                .a = a.data(),
                                .b = b.data(),
                                .d = d.data(),
                                .bias = bias.data(),
                                .scale = scale.data()};
  EXPECT_EQ(tessera_gemm_with(handle_, &p, nullptr, &in), TESSERA_OK) << tessera_last_message();
  EXPECT_TRUE(launched());
}

}  // namespace
