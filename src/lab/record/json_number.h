// JSON has neither NaN nor infinity; a factor of a problem may be either. They travel as the words
// that --alpha takes: "nan", "inf", "-inf".
#pragma once

#include "lab/record/record.h"

namespace tessera::lab {

Json json_number(double value);
// Of either spelling. Throws kBadArgument for anything else.
double number_of(const Json& json);

}  // namespace tessera::lab
