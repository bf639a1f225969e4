// Operations without bytes behind them, for tests of the models that look at registers only.
#pragma once

#include "sass/decode/operation.h"

namespace tessera::sass::handmade {

// FFMA Rd, Ra, Rb, Rc.
inline Operation ffma(int d, int a, int b, int c, unsigned reuse = 0) {
  Operation operation{"FFMA"};
  operation.reads = {{RegisterFile::kGeneral, a, 1, 0},
                     {RegisterFile::kGeneral, b, 1, 1},
                     {RegisterFile::kGeneral, c, 1, 2}};
  operation.writes = {{RegisterFile::kGeneral, d, 1}};
  operation.control = {.stall = 1, .reuse = reuse};
  operation.timing = Timing::kFixed;
  operation.known = true;
  return operation;
}

// An instruction that neither reads nor writes.
inline Operation nop() {
  Operation operation{"NOP"};
  operation.control.stall = 1;
  operation.timing = Timing::kFixed;
  operation.known = true;
  return operation;
}

// LDS Rd..., [Ra]
inline Operation load(int d, int count, int a) {
  Operation operation{count == 4 ? "LDS.128" : count == 2 ? "LDS.64" : "LDS.32"};
  operation.reads = {{RegisterFile::kGeneral, a, 1, 0}};
  operation.writes = {{RegisterFile::kGeneral, d, count}};
  operation.control = {.stall = 1, .write_scoreboard = 0};
  operation.timing = Timing::kVariable;
  operation.known = true;
  return operation;
}

}  // namespace tessera::sass::handmade
