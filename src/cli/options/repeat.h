// The command that repeats one record. Its own fields say kernel, problem and seeds; every other
// option is carried over from the call as it was given, so that a new one cannot be forgotten.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "problem/problem.h"

namespace tessera::cli {

class Parser;

// The command that repeats one record's row: "tessera bench --kernel 02_coalesced -m 512 ...".
std::string repeat_command(const std::string& command, const KernelChoice& choice,
                           const Problem& problem, std::string_view device, std::uint64_t seed);

// " --fill normal --rounds 2": the options of this call, except for those that a record states
// itself (`said` lists further ones) and for the files that the record is written to.
std::string carried_options(const Parser& command, const std::set<std::string>& said = {});

}  // namespace tessera::cli
