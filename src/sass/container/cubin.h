// Facts about a compiled kernel, read from the cubin itself: registers, shared and local memory,
// and counts of instructions over the whole kernel and loop by loop. No disassembler is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/container/source_lines.h"
#include "sass/decode/instruction.h"

namespace tessera::sass {

// How often each instruction name (name_of) occurs in a stretch of code. Instructions that can
// never run are left out.
using Histogram = std::map<std::string, int>;

// A loop of the code. Its counts include the loops inside it.
struct Loop {
  std::uint64_t begin = 0, end = 0;  // byte offsets of the head and of the end
  Histogram histogram;
  std::vector<std::size_t> members;  // indices of instructions, perhaps with gaps
};

struct CubinKernel {
  std::string name;
  int registers = 0;               // per thread
  std::uint64_t shared_bytes = 0;  // static, per block
  std::uint64_t local_bytes = 0;   // stack frame per thread: arrays in local memory and spills
  int max_threads = 0;             // per block; 0 if the kernel states no number
  std::uint64_t code_offset = 0;   // start of the code in the file
  std::vector<Instruction> code;
  std::vector<SourceLine> lines;  // by instruction; empty when the file does not say
  Histogram histogram;
  std::vector<Loop> loops;  // by begin
};

struct CubinFile {
  int sm = 0;   // 90
  int abi = 0;  // 7 (CUDA 12) or 8 (CUDA 13)
  std::vector<CubinKernel> kernels;

  const CubinKernel* find(std::string_view kernel) const;  // nullptr if not found
};

// Reads cubins of CUDA 12 and 13. Throws std::runtime_error with one sentence on anything
// malformed.
CubinFile read_cubin(std::span<const std::byte> file);

// Returns a copy of the file in which `code` replaces the kernel's instructions. Throws
// std::invalid_argument if `code` does not have as many instructions as the kernel.
std::vector<std::byte> with_code(std::span<const std::byte> file, const CubinKernel& kernel,
                                 std::span<const Instruction> code);

}  // namespace tessera::sass
