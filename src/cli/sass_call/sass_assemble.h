// tessera sass --listing -o, and --assemble: a cubin as text, and back.
#pragma once

#include <string>

#include "arch/gpu.h"

namespace tessera::cli {

// Writes the cubin of `target`, a file or a kernel of the catalog in the code of `gpu`, as text:
// the code of kernels whose names contain `kernel`, everything else as data. `sm` chooses from a
// file of several. Returns a line for people.
std::string write_assembly(const std::string& target, const std::string& kernel, int sm,
                           const arch::Gpu& gpu, const std::string& out);

struct AssembledFile {
  std::string text;       // the changes and the hazard checker's result, for people
  bool is_clean = false;  // no hazard was found
};
// Writes the cubin that the text at `path` describes. Throws StatusError on a text that cannot be
// assembled, with its line and column.
AssembledFile assemble_file(const std::string& path, const std::string& out);

}  // namespace tessera::cli
