// The flow of values in a kernel, derived from its PTX without a run. Report types only: other
// rooms may include this page.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "vgpu/report/finding.h"

namespace tessera::vgpu {

// The given lines (from 1) that read a value which is only used by a compare-and-swap of the same
// word: as its expected value, and to compute the stored value.
std::set<int> guesses_among(const std::string& ptx, const std::set<int>& lines);

// The parameters of this kernel, and the variables of the module, that point to memory where it
// stores a value computed from a clock or from the place where a thread runs.
std::set<std::string> pointers_to_times(const std::string& ptx, const std::string& kernel);

// An exchange in the kernel's own code whose result is unused, so that the word keeps the value of
// the last store.
struct LastWrite {
  std::string pointer;  // the parameter or variable that points to the word
  FindingPlace place;
};
std::vector<LastWrite> last_writes(const std::string& ptx, const std::string& kernel);

// Whether the kernel, or a function of the module, uses what an atomic operation found.
bool uses_results_of_atomics(const std::string& ptx, const std::string& kernel);

// A store of a value that its thread computed from a value it had read: `x += 1`. Only the run
// shows whether it reads and stores the same word.
struct Update {
  int load = 0, store = 0;  // lines of the PTX
  // Done once more, it gives another value: a sum does, a maximum does not.
  bool accumulates = false;
  bool is_common = false;  // all threads of a block store to one address
  std::string atomic;      // the atomic function with the same effect: "atomicAdd()"
};

// An access of the kernel's own code whose address is computed from the start of one array.
struct ArrayUse {
  int line = 0;          // line of the PTX
  std::string variable;  // a shared variable, or the variable that holds a thread's arrays
  bool is_local = false;
  std::uint64_t begin = 0, end = 0;  // the array's bytes in the variable
};
std::vector<ArrayUse> array_uses_in(const std::string& ptx, const std::string& kernel);

// Updates in all functions of the module. Stores of a value that a warp or block computed together
// (a sum by shuffles, a count of votes) are left out: they are one update, whichever lanes store
// it.
std::vector<Update> updates_in(const std::string& ptx);

}  // namespace tessera::vgpu
