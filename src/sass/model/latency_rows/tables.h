// One table of latencies for each architecture. tools/calibrate/mine_corpus writes the files in
// this folder; the tables of public repositories come from tools/sass_hazards. Internal to
// src/sass.
#pragma once

#include "sass/model/latencies.h"

namespace tessera::sass {

LatencyTable latencies_of_sm_75();
LatencyTable latencies_of_sm_80();
LatencyTable latencies_of_sm_86();  // and 89
LatencyTable latencies_of_sm_90();
LatencyTable public_latencies_of_sm_75();
LatencyTable public_latencies_of_sm_80();
LatencyTable public_latencies_of_sm_86();  // and 89
LatencyTable public_latencies_of_sm_90();

}  // namespace tessera::sass
