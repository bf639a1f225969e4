// The pipes of FP32 and of FP64 execute more than multiply-adds: how many instructions of a pipe
// one PTX instruction becomes.
#pragma once

#include <string_view>

namespace tessera::lab {

enum class FloatPipe { kF32, kF64 };

// 1 for "add.f64"; 8 for "div.rn.f64", whose way without special cases is that long; 0 for what
// other units execute (conversions, comparisons of f32) and for signs, which are part of an
// operand.
int pipe_instructions(std::string_view form, FloatPipe pipe);

}  // namespace tessera::lab
