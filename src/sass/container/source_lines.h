// Reads which source line each instruction came from, in cubins built with -lineinfo. The format is
// that of debuggers (DWARF 2, .debug_line): a program for a small machine that advances an address
// and a line number.
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

// For each kernel: the source line of each instruction that begins a new line, by byte offset. The
// table is empty if the file has no line section, or one that is not in DWARF version 2.
using LineTable = std::map<std::string, std::map<std::uint64_t, SourceLine>>;
LineTable read_source_lines(const Elf& elf);

}  // namespace tessera::sass
