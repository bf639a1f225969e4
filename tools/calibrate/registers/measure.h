// Runs sequences and turns clocks into rows of JSON.
#pragma once

#include "tools/calibrate/registers/sequence.h"
#include "tools/calibrate/timing/bench.h"

namespace tessera::calibration {

// Rows are added to `rows` one by one, so that those before a fault are kept.
// Cycles of a sub-core in which each of its warps runs the pattern once.
void measure_sequences(Bench& bench, const std::vector<Sequence>& sequences, Json& rows);
// Loops of more and more FFMAs: what the instruction caches hold, what a branch costs.
void measure_loops(Bench& bench, Json& rows);
// Values that come out when a result is read early.
void measure_distances(Bench& bench, Json& rows);
// All SMs: TFLOP/s and watts.
void measure_whole_gpu(Bench& bench, Json& rows);
// Encodings that ptxas does not write for sm_90; a GPU may refuse them, so they come last.
void measure_constants(Bench& bench, Json& rows);

// Makes every program without running it; throws where one cannot be made. Returns how many.
int make_all_programs();

}  // namespace tessera::calibration
