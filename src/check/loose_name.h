// Compares kernel names as people write them, "reduce<size_t, 'x', Mode::kB>", with those of the
// compiler, "reduce<unsigned long, (char)120, (Mode)1>".
#pragma once

#include <string>

#include "check/words/tokens.h"

namespace tessera::checking {

// Returns one spelling for all names that have the same meaning: numbers without suffixes and
// casts, characters and booleans as numbers, types by their own names, "long long" as "long", no
// unnecessary spaces.
std::string loosely(const std::string& name);

// Returns the name with enumerators of the source replaced by their values. If there is no source,
// the name is unchanged.
std::string with_enumerators(const std::string& name, const std::string& source_path,
                             const ReadOptions& read);

}  // namespace tessera::checking
