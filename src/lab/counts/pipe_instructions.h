// Says how many instructions of the FP32 or FP64 pipe one PTX instruction becomes: the pipes
// execute more than multiply-adds.
#pragma once

#include <string_view>

namespace tessera::lab {

enum class FloatPipe { kF32, kF64 };

// Returns 1 for "add.f64", and 8 for "div.rn.f64", whose path without special cases has 8
// instructions. Returns 0 for forms that other units execute (conversions, comparisons of f32) and
// for changes of sign, which are part of an operand.
int pipe_instructions(std::string_view form, FloatPipe pipe);

}  // namespace tessera::lab
