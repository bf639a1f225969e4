// tessera sass --listing -o writes a cubin as text, and --assemble makes a cubin of such a text.
#pragma once

#include <string>

#include "arch/gpu.h"

namespace tessera::cli {

// Writes a cubin as text to `out`. `target` is a file, or a kernel of the catalog in the code of
// `gpu`; `sm` chooses one of several cubins in a file. Kernels whose names contain `kernel` become
// code, everything else becomes data. Returns a line for people.
std::string write_assembly(const std::string& target, const std::string& kernel, int sm,
                           const arch::Gpu& gpu, const std::string& out);

struct AssembledFile {
  std::string text;       // for people: the changes, and what the hazard checker found
  bool is_clean = false;  // no hazard was found
};
// Assembles the text in the file `path`, and writes the cubin to `out`. Throws StatusError, with
// line and column, if the text cannot be assembled.
AssembledFile assemble_file(const std::string& path, const std::string& out);

}  // namespace tessera::cli
