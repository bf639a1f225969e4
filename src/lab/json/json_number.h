// Writes values that JSON has no notation for. A factor of a problem may be NaN or infinite, which
// is written as a word that --alpha takes: "nan", "inf", "-inf". Types are one word, as --type
// takes it, or an object if A, B, C, D and compute differ.
#pragma once

#include "base/types.h"
#include "lab/json/json.h"

namespace tessera::lab {

Json json_number(double value);
// Reads a number, "nan", "inf" or "-inf". Throws kBadArgument for anything else.
double number_of(const Json& json);

Json json_types(const Types& types);
// Reads types from one word, or from an object. Throws kBadArgument for anything else.
Types types_of(const Json& json);

}  // namespace tessera::lab
