// The command that repeats one record. The record itself states kernel, problem and seeds. All
// other options are copied from the call, so that a new option cannot be forgotten.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "problem/problem.h"

namespace tessera::cli {

class Parser;

// The part of the command that the record states: "tessera bench --kernel 02_coalesced -m 512 ...".
std::string repeat_command(const std::string& command, const KernelChoice& choice,
                           const Problem& problem, std::string_view device, std::uint64_t seed);

// " --fill normal --rounds 2": the options of this call, except those that a record states, those
// in `said`, and the files that records are written to.
std::string carried_options(const Parser& command, const std::set<std::string>& said = {});

}  // namespace tessera::cli
