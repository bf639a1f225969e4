// Finds loops in a kernel's code. A branch to an earlier address need not close a loop, because
// compilers put rare blocks after the code that they return to. A branch closes a loop if the
// branch's target (the loop's head) is on every path to the branch.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tessera::sass {

// Where control goes after one instruction.
struct Step {
  std::optional<std::size_t> target;  // index of the instruction to which it may branch
  bool falls_through = true;          // control may go on to the next instruction
};

// A natural loop: its head, and every instruction from which a branch back to the head can be
// reached without passing the head. Several branches back to one head make one loop.
struct NaturalLoop {
  std::size_t head = 0;
  std::vector<std::size_t> members;  // ascending, head and branches included
};

// Returns the loops, sorted by head. A branch of an instruction to itself is not a loop: compilers
// end kernels with such a branch. Targets must be smaller than the number of steps.
std::vector<NaturalLoop> find_loops(std::span<const Step> steps);

}  // namespace tessera::sass
