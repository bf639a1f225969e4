// The epilogue of a problem: its words, and its vectors beside D.
#include "problem/epilogue.h"

#include <gtest/gtest.h>

#include "problem/operands.h"

namespace tessera {
namespace {

Problem of_4x3x2(const char* layout) {
  Problem problem{.m = 4, .n = 3, .k = 2};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

TEST(Epilogue, HasWords) {
  for (const VectorKind scale : {VectorKind::kNone, VectorKind::kPerRow, VectorKind::kPerColumn}) {
    for (const VectorKind bias : {VectorKind::kNone, VectorKind::kPerRow, VectorKind::kPerColumn}) {
      for (const ActivationRow& row : kActivations) {
        const Epilogue epilogue{scale, bias, row.activation};
        EXPECT_EQ(parse_epilogue(name_of(epilogue)), epilogue) << name_of(epilogue);
      }
    }
  }
  EXPECT_EQ(name_of(Epilogue{}), "none");
  EXPECT_EQ(name_of(Epilogue{VectorKind::kPerColumn, VectorKind::kPerRow, Activation::kGeluErf}),
            "scale_col+bias_row+gelu_erf");
  EXPECT_EQ(parse_epilogue("relu+bias_col"),
            (Epilogue{VectorKind::kNone, VectorKind::kPerColumn, Activation::kRelu}));
  const auto refusal = [](const char* text) -> std::string {
    try {
      parse_epilogue(text);
    } catch (const StatusError& error) {
      return error.what();
    }
    return "";
  };
  std::string all = "none, scale_row, scale_col, bias_row, bias_col";
  for (int i = 1; i < kActivationCount; ++i) all += std::string(", ") + kActivations[i].name;
  all += ", aux";
  EXPECT_TRUE(activation_names().starts_with("relu, gelu")) << activation_names();
  EXPECT_NE(refusal("identity"), "") << "is \"none\"";
  EXPECT_EQ(refusal("bias"),
            "epilogue is 'bias', but must be one or more, joined by +, of: " + all);
  EXPECT_EQ(refusal("relu+gelu"),
            "epilogue is 'relu+gelu', but must have at most one scale, bias, activation and "
            "auxiliary output of: " +
                all);
  for (const char* text : {"", "+", "relu+", "+relu", "none+relu", "bias_row+bias_row", "RELU"}) {
    EXPECT_NE(refusal(text), "") << text;
  }
}

TEST(Epilogue, VectorsAreNoPartOfD) {
  Problem problem = of_4x3x2("NN");
  problem.ldd = 6;
  problem.epilogue = {.scale = VectorKind::kPerRow, .bias = VectorKind::kPerColumn};
  const Operands apart{1 << 20, 1 << 21, 0, 4096, 1 << 22, 1 << 23};
  const auto with = [&](std::uint64_t scale, std::uint64_t bias) {
    Operands operands = apart;
    operands.scale = scale, operands.bias = bias;
    return check_overlap(problem, operands).message;
  };
  EXPECT_EQ(with(1 << 22, 1 << 23), "");
  EXPECT_EQ(with(1 << 22, 1 << 22), "") << "they may share their values";
  EXPECT_EQ(with(4096 - 16, 4096 - 12), "") << "just before D";
  EXPECT_EQ(with(4096 + 64, 1 << 23), "") << "just after it: 4 x 3 with ld 6 are 16 elements";
  const std::string rule = ", but the output must not overlap an input that is read";
  EXPECT_EQ(with(4096 + 60, 1 << 23), "D shares an element with the scale of the epilogue" + rule);
  EXPECT_EQ(with(1 << 22, 4096 - 8), "D shares an element with the bias of the epilogue" + rule);
  problem.epilogue.bias = VectorKind::kNone;
  EXPECT_EQ(with(1 << 22, 4096), "") << "not read";
  problem.epilogue = {.bias = VectorKind::kPerColumn};
  problem.n = 2;
  EXPECT_EQ(with(0, 4096 + 16), "") << "two values, in the gap of D";
}

TEST(Epilogue, VectorsHaveTheLengthOfD) {
  const Problem problem = of_4x3x2("TN");
  EXPECT_EQ(view_of(VectorKind::kNone, problem).span(), 0);
  EXPECT_EQ(view_of(VectorKind::kPerRow, problem).span(), 4);
  EXPECT_EQ(view_of(VectorKind::kPerColumn, problem).span(), 3);
  EXPECT_EQ(scale_type(kBf16Types), ElementType::kF32);
  EXPECT_EQ(bias_type(kBf16Types), ElementType::kBf16);
  EXPECT_EQ(scale_type(kF64Types), ElementType::kF64);
}

}  // namespace
}  // namespace tessera
