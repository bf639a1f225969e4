// Hardware does not interlock results of fixed latency, and waits for other results only if the
// code says so. This finds places where a kernel would compute with a value that has not arrived,
// or lose one that is still needed, on any path. The required distances are those of ptxas
// (latencies.h): a kernel without findings keeps to these, which is no proof about silicon.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/latencies.h"

namespace tessera::sass {

struct Hazard {
  std::size_t at = 0;  // the instruction that suffers from it
  std::size_t by = 0;  // the other one, if there is one; else the same
  std::string reason;  // one sentence: what may go wrong, and with which other instruction
};

// By place. Every kind is looked for:
//   results read, or registers overwritten, too few cycles after a fixed-latency instruction;
//   the same after one of unknown latency without a wait for its scoreboard, or with a wait one
//   cycle after it was set; sources overwritten before a slow instruction has read them;
//   stall, yield and reuse codes that do not exist; stalls below those that branches and waits
//   have; operands kept in the reuse cache although their register was written since; tuples of
//   registers that do not start where the hardware wants them; instructions of which nothing is
//   known, or to which no known way leads.
std::vector<Hazard> find_hazards(const Program& program);
// The same, judged by other distances than those of the program's architecture.
std::vector<Hazard> find_hazards(const Program& program, const Distances& distances);

// "rung_11__x at 0x0f60, FFMA R4, R8, R9, R4: R8 may still ..."
std::string text_of(const Program& program, const Hazard& hazard);

}  // namespace tessera::sass
