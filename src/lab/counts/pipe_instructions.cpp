#include "lab/counts/pipe_instructions.h"

#include <algorithm>

namespace tessera::lab {
namespace {

struct Row {
  std::string_view opcode;  // the first word of a form
  int f32, f64;
};

// HW: numbers of FP32 and FP64 pipe instructions that ptxas 13.0 writes for sm_80 and sm_90a.
// Divisions and roots are those with rounding (.rn); only the usual path counts, not the call for
// special cases. FP32 comparisons run on another unit.
constexpr Row kRows[] = {{"fma", 1, 1},  {"mad", 1, 1},  {"add", 1, 1}, {"sub", 1, 1},
                         {"mul", 1, 1},  {"setp", 0, 1}, {"set", 0, 1}, {"min", 0, 1},
                         {"max", 0, 1},  {"div", 5, 8},  {"rcp", 3, 5}, {"sqrt", 4, 8},
                         {"rsqrt", 1, 5}};

// Returns the number of pipe instructions for an approximate form. "rcp.approx.f32" needs only the
// special function unit; "div.approx.f32" and "sqrt.approx.f32" also need one multiply.
int approximate(std::string_view opcode, FloatPipe pipe) {
  if (opcode == "rsqrt" && pipe == FloatPipe::kF64) return 5;
  return opcode == "div" || opcode == "sqrt" ? 1 : 0;
}

}  // namespace

int pipe_instructions(std::string_view form, FloatPipe pipe) {
  const std::string_view type = form.substr(form.rfind('.') + 1);
  const bool is_packed = pipe == FloatPipe::kF32 && type == "f32x2";
  if (!is_packed && type != (pipe == FloatPipe::kF32 ? "f32" : "f64")) return 0;
  const std::string_view opcode = form.substr(0, form.find('.'));
  const Row* const row = std::ranges::find(kRows, opcode, &Row::opcode);
  if (row == std::end(kRows)) return 0;
  if (form.find(".approx") != form.npos) return approximate(opcode, pipe);
  return (pipe == FloatPipe::kF32 ? row->f32 : row->f64) * (is_packed ? 2 : 1);
}

}  // namespace tessera::lab
