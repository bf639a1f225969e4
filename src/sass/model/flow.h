// A kernel's control flow, for analyses over all paths: its operations, and where control may go
// from each operation. A fact that holds on one path need not hold on another: loops go back,
// branches skip waits, subroutines return to several callers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sass/container/cubin.h"
#include "sass/decode/operation.h"

namespace tessera::sass {

// A basic block: control enters at its first instruction and leaves at its last one only.
struct Block {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> next;  // blocks, in no order
};

// A block on a path from the kernel's entry. A subroutine's block has one node for each call, so
// that its return leads back to that call only.
struct Node {
  std::size_t block = 0;
  std::vector<std::size_t> next;  // nodes
};

struct Program {
  std::string name;
  int sm = 0;
  std::vector<Instruction> code;
  std::vector<Operation> operations;
  std::vector<Block> blocks;          // by begin; all blocks together are the whole code
  std::vector<std::size_t> block_of;  // by instruction
  std::vector<Node> nodes;            // the entry first; unreachable blocks have no node

  // Whether the instruction has a guard, so that it may be skipped.
  bool is_guarded(std::size_t at) const { return code[at].bits(12, 4) != 7; }
};

// Returns the kernel's control flow. Throws std::runtime_error with a sentence if a path cannot be
// followed.
Program program_of(const CubinKernel& kernel, int sm);

// Returns the first unreachable instruction, apart from the padding after a kernel, or the number
// of instructions if all of them are reached. Compilers leave no unreachable code, so such code
// means that a path is unknown, and nothing may be concluded about the kernel.
std::size_t unreached_code(const Program& program);

}  // namespace tessera::sass
