// Reads the instructions of PTX entries as nvcc writes them, with their loops. Counts of the PTX,
// and the page that shows PTX next to machine code, are based on them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sass/container/loops.h"

namespace tessera::sass {

struct PtxInstruction {
  std::string text;     // blanks squeezed: "@%p1 bra $L__BB0_3"
  std::string opcode;   // "ld.global.v4.f32"
  std::string machine;  // the cubin reader's name: "LDG.128"; empty: not counted
};

struct PtxCode {
  std::string name;
  std::vector<PtxInstruction> instructions;
  std::vector<NaturalLoop> loops;
};

// Returns every .entry of a PTX text, in order.
std::vector<PtxCode> read_ptx_code(std::string_view ptx);

}  // namespace tessera::sass
