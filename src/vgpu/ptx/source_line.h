// The source line that is shown for an instruction. Kernels wrap single instructions and toolkit
// calls in small functions. If these are inlined, the innermost line is always the same line of a
// header, which does not show which part of the kernel it belongs to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vgpu/ptx/ast.h"

namespace tessera::vgpu::ptx {

struct SourceLine {
  std::string file;  // empty if unknown
  int line = 0;
  // The file and line of each inlined call that leads to the instruction, innermost first.
  std::vector<std::pair<std::string, int>> callers;
};

// Returns the innermost line that is neither in an installed header (a folder "include") nor in a
// wrapper of single instructions (a folder "ptx"). If all lines are, returns the innermost one.
SourceLine source_line(const Module& module, const Function& function,
                       const SourceLocation& location);

}  // namespace tessera::vgpu::ptx
