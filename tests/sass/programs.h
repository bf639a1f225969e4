// Programs of this build's images, and programs with a few instructions changed.
#pragma once

#include <stdexcept>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "sass/model/flow.h"

namespace tessera::sass {

// The images of every kernel of the catalog.
inline std::vector<const CodeImage*> images_of_catalog() {
  std::vector<const CodeImage*> all;
  for (const Kernel& kernel : all_kernels()) {
    for (const CodeImage* image : images_of(kernel)) all.push_back(image);
  }
  return all;
}

// The first entry whose name contains `part`.
inline Program program_named(std::string_view part) {
  for (const CodeImage* image : images_of_catalog()) {
    if (image->ptx.view().find(part) == std::string_view::npos) continue;
    const CubinFile cubin = read_cubin(image->cubin);
    for (const CubinKernel& entry : cubin.kernels) {
      if (entry.name.find(part) != std::string::npos) return program_of(entry, cubin.sm);
    }
  }
  throw std::runtime_error("no kernel of the catalog has that name");
}

inline void replace(Program& program, std::size_t at, const Instruction& instruction) {
  program.code[at] = instruction;
  program.operations[at] = decode(instruction, at * kInstructionBytes, program.sm);
}

// The same program with another control field at one place.
inline Program with_control_at(Program program, std::size_t at, const Control& control) {
  replace(program, at, with_control(program.code[at], control));
  return program;
}

inline Program exchanged(Program program, std::size_t first, std::size_t second) {
  const Instruction kept = program.code[first];
  replace(program, first, program.code[second]);
  replace(program, second, kept);
  return program;
}

}  // namespace tessera::sass
