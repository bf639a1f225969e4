// Cubins built with -lineinfo say which source line each instruction came from, in the format that
// debuggers share: a program for a small machine that steps addresses and lines (DWARF 2,
// .debug_line).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sass/container/elf.h"

namespace tessera::sass {

struct SourceLine {
  std::string file;
  int line = 0;  // 0: unknown
  bool operator==(const SourceLine&) const = default;
};

// Where instructions come from, by kernel and by byte offset of the first instruction of each line.
// Empty without the section, or where it has another version.
using LineTable = std::map<std::string, std::map<std::uint64_t, SourceLine>>;
LineTable read_source_lines(const Elf& elf);

}  // namespace tessera::sass
