// Finds hazards in machine code. The hardware does not interlock results of fixed latency, and
// waits for other results only where a control field tells it to. This finds places where a kernel
// would, on any path, compute with a value that has not arrived, or lose a value that is still
// needed. The required distances are those of ptxas (latencies.h): a kernel without findings keeps
// these distances, which proves nothing about the hardware.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/latencies.h"

namespace tessera::sass {

struct Hazard {
  std::size_t at = 0;  // the instruction that goes wrong
  std::size_t by = 0;  // the instruction that causes the hazard; `at` if there is no other
  std::string reason;  // one sentence: what may go wrong, and with which other instruction
};

// Returns the hazards in the order of the code. All of these are looked for:
//   results read, or registers overwritten, too few cycles after a fixed-latency instruction;
//   results of unknown latency read or overwritten without a wait for their scoreboard, or with a
//   wait one cycle after its setter; sources overwritten before a slow instruction has read them;
//   combinations of stall, yield and reuse that do not exist; stalls shorter than branches and
//   waits need; operands kept in the reuse cache although their register was written since;
//   register tuples that are not aligned as the hardware requires; unknown instructions, and
//   instructions to which no known path leads.
std::vector<Hazard> find_hazards(const Program& program);
// Like the function above, but judges by the given distances instead of those of the program's
// architecture.
std::vector<Hazard> find_hazards(const Program& program, const Distances& distances);

// Returns a sentence: "rung_11__x at 0x0f60, FFMA R4, R8, R9, R4: R8 may still ..."
std::string text_of(const Program& program, const Hazard& hazard);

}  // namespace tessera::sass
