// Finds loops in a kernel's code. A branch to an earlier address need not close a loop, because
// compilers put rare blocks after the code that they return to. It closes one if the branch's
// target (the loop's head) is on every path to the branch.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tessera::sass {

// Where control goes after one instruction.
struct Step {
  std::optional<std::size_t> target;  // index of the instruction that it may branch to
  bool falls_through = true;          // or goes on to the next one
};

// A natural loop: its head, and every instruction from which the head can be reached again by a
// branch back without passing the head before. Several branches to one head make one loop.
struct NaturalLoop {
  std::size_t head = 0;
  std::vector<std::size_t> members;  // ascending, head and branches included
};

// Returns the loops, sorted by head. A branch of an instruction to itself is not a loop, since
// compilers end kernels with it. Targets must be smaller than the number of steps.
std::vector<NaturalLoop> find_loops(std::span<const Step> steps);

}  // namespace tessera::sass
