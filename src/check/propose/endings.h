// Tells whether the way in which a tried call ended is due to the kernel, to the call, or to the
// values that the user gave.
#pragma once

#include <string>
#include <vector>

#include "check/propose/propose.h"
#include "check/propose/trial.h"

namespace tessera::checking {

// Whether the kernel itself caused the fault. Faults from arrays of the trial that are too short,
// and stops after too much time, do not count.
bool is_fault_of_kernel(const Trial& trial);
bool leaves_arrays(const Trial& trial);  // out of bounds in global memory
bool is_in_shared(const Trial& trial);
bool wants_map(const Trial& trial);
std::string first_line(const Trial& trial);

// Whether every other call would be refused for the same reason: the values that the user gave.
bool blames_what_is_given(const CallWords& given, const std::string& message);

// Runs the call under checks, in one order of the warps.
CheckResult checked_once(CheckPlan plan, double seconds);

double instructions_of(const CheckResult& checked);
std::vector<std::string> names_of(const CheckResult& checked);
// Returns the arrays that are read before they are written.
std::vector<std::string> read_first(const CheckResult& checked);
// Whether a finding recommends an atomic in place of a load and a store.
bool finds_update(const CheckResult& checked);
bool all_finished(const CheckResult& checked);
bool is_fault_of_kernel(const CheckResult& checked);

}  // namespace tessera::checking
