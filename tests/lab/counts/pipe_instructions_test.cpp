#include "lab/counts/pipe_instructions.h"

#include <gtest/gtest.h>

#include <utility>

namespace tessera::lab {
namespace {

TEST(PipeInstructions, EveryInstructionOfAPipeCounts) {
  const std::pair<const char*, int> doubles[] = {
      {"fma.rn.f64", 1},       {"add.f64", 1},    {"add.rn.f64", 1},
      {"sub.f64", 1},          {"mul.f64", 1},    {"setp.lt.f64", 1},
      {"max.f64", 1},          {"div.rn.f64", 8}, {"sqrt.rn.f64", 8},
      {"rcp.rn.f64", 5},       {"neg.f64", 0},    {"rcp.approx.ftz.f64", 0},
      {"ld.shared.f64", 0},    {"mov.f64", 0},    {"cvt.rn.f32.f64", 0},
      {"rsqrt.approx.f64", 5}, {"fma.rn.f32", 0}, {"atom.global.add.f64", 0}};
  for (const auto& [form, count] : doubles) {
    EXPECT_EQ(pipe_instructions(form, FloatPipe::kF64), count) << form;
  }
  const std::pair<const char*, int> floats[] = {
      {"fma.rn.ftz.f32", 1}, {"add.f32", 1},        {"mul.f32", 1},     {"setp.lt.f32", 0},
      {"div.rn.f32", 5},     {"div.approx.f32", 1}, {"sqrt.rn.f32", 4}, {"rcp.approx.f32", 0},
      {"fma.rn.f64", 0},     {"fma.rn.f32x2", 2},   {"add.f16x2", 0}};
  for (const auto& [form, count] : floats) {
    EXPECT_EQ(pipe_instructions(form, FloatPipe::kF32), count) << form;
  }
}

}  // namespace
}  // namespace tessera::lab
