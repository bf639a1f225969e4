// Names of kernels as people write them: "reduce<size_t, 'x', Mode::kB>" for what the compiler
// calls "reduce<unsigned long, (char)120, (Mode)1>".
#pragma once

#include <string>

#include "check/words/tokens.h"

namespace tessera::checking {

// One spelling for all that mean the same: numbers without suffixes and casts, characters and
// booleans as numbers, types by their own names, "long long" as "long", no spaces that are not
// needed.
std::string loosely(const std::string& name);

// The name with the values of enumerators that the source defines. The source may not be there.
std::string with_enumerators(const std::string& name, const std::string& source_path,
                             const ReadOptions& read);

}  // namespace tessera::checking
