// What the host tells a calibration kernel. Plain data, laid out alike by both compilers.
#pragma once

namespace tessera::calibration {

struct Params {
  const unsigned* offsets;  // 32, in bytes: where each lane of a warp reads or writes
  char* data;               // global memory to work on
  long long* clocks;        // begin and end of the timed loop, a pair each warp
  unsigned* sink;           // takes results, so that nothing is computed for nobody
  long long cta_stride;     // bytes between what neighbouring CTAs work on
  long long warp_stride;    // and neighbouring warps
  long long bytes;          // that all threads together stream over
  long long start;          // where in the data a list is entered
  int iterations;           // of the timed loop
  int zero;                 // 0; a number that the compiler does not know
  int first, second;        // what warps do (collisions.h): the second where index & mask
  int mask;
  int step;  // bytes between the requests of one iteration, of atomics
};

}  // namespace tessera::calibration
