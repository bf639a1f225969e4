// The flow of values in a kernel, derived from its PTX without running it. Report types only: code
// outside vgpu may include this header.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "vgpu/report/finding.h"

namespace tessera::vgpu {

// Returns those of the given lines (from 1) that read a value only for a compare-and-swap of the
// same word: as the expected value, and to compute the new value.
std::set<int> guesses_among(const std::string& ptx, const std::set<int>& lines);

// Returns the parameters of the kernel and variables of the module that point to memory in which it
// stores values computed from a clock or from where a thread runs (%smid, %warpid).
std::set<std::string> pointers_to_times(const std::string& ptx, const std::string& kernel);

// An exchange in the kernel's own code whose result is unused. The word keeps the value of the last
// exchange or store.
struct LastWrite {
  std::string pointer;  // the parameter or variable that points to the word
  FindingPlace place;
};
std::vector<LastWrite> last_writes(const std::string& ptx, const std::string& kernel);

// Whether the kernel, or a function of the module, uses the results of atomic operations.
bool uses_results_of_atomics(const std::string& ptx, const std::string& kernel);

// A store of a value that its thread computed from a value that it had read: `x += 1`. Only at run
// time is it known whether it reads and stores the same word.
struct Update {
  int load = 0, store = 0;  // lines of the PTX
  // Whether repeating the update changes the value: true for a sum, false for a maximum.
  bool accumulates = false;
  bool is_common = false;  // all threads of a block store to one address
  std::string atomic;      // the atomic function with the same effect: "atomicAdd()"
};

// An access in the kernel's own code whose address is computed from the start of one array.
struct ArrayUse {
  int line = 0;          // line of the PTX
  std::string variable;  // a shared variable, or the variable that holds a thread's arrays
  bool is_local = false;
  std::uint64_t begin = 0, end = 0;  // the array's bytes in the variable
};
std::vector<ArrayUse> array_uses_in(const std::string& ptx, const std::string& kernel);

// Returns the updates in all functions of the module. Stores of a value that a warp or block has
// computed together (a sum by shuffles, a count of votes) are omitted: they are one update,
// whichever lane stores it.
std::vector<Update> updates_in(const std::string& ptx);

}  // namespace tessera::vgpu
