// Where values of a kernel go, as its PTX tells without a run. Report types only: other rooms may
// include this page.
#pragma once

#include <set>
#include <string>

namespace tessera::vgpu {

// Those of these lines, from 1, that read what nothing but a compare-and-swap of the same word
// uses: as what it expects, and to compute what it stores.
std::set<int> guesses_among(const std::string& ptx, const std::set<int>& lines);

// The parameters of this kernel that point to where it stores what it made of a clock or of the
// place where a thread runs, and the variables of the module that do.
std::set<std::string> pointers_to_times(const std::string& ptx, const std::string& kernel);

// Whether the kernel, or a function of the module, uses what an atomic operation found.
bool uses_results_of_atomics(const std::string& ptx, const std::string& kernel);

}  // namespace tessera::vgpu
