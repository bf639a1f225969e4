// The source line that is shown for an instruction. Kernels wrap single instructions and calls of
// the toolkit in small functions. If these are inlined, the innermost line is always the same line
// of a header, which does not show where in the kernel it was called.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vgpu/ptx/ast.h"

namespace tessera::vgpu::ptx {

struct SourceLine {
  std::string file;  // empty if unknown
  int line = 0;
  // Files and lines of the inlined calls that lead here, the innermost first.
  std::vector<std::pair<std::string, int>> callers;
};

// The innermost line that is neither in an installed header (a folder "include") nor among
// wrappers of single instructions (a folder "ptx"); the innermost one where all do.
SourceLine source_line(const Module& module, const Function& function,
                       const SourceLocation& location);

}  // namespace tessera::vgpu::ptx
