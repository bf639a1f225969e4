// A register dependence: an instruction needs a register that an earlier one has not settled yet.
// It is still being written, or its old value still has to be read. This walks all paths of a
// kernel and reports every such pair, with the fewest cycles that may lie between the two. The
// hazard checker judges them; the miner of latencies collects them from a compiler's output.
#pragma once

#include <cstddef>
#include <functional>

#include "sass/decode/operation.h"
#include "sass/model/flow.h"

namespace tessera::sass {

enum class DependenceKind { kReadAfterWrite, kWriteAfterWrite, kWriteAfterRead };

struct RegisterDependence {
  DependenceKind kind;
  std::size_t first = 0, second = 0;  // instructions, in the order in which they are issued
  RegisterFile file = RegisterFile::kGeneral;
  int reg = 0;
  int operand = -1;       // operand of the second instruction, as in RegisterUse
  bool as_guard = false;  // the second one is guarded by the register
  // The first one takes an unknown time, and on some path nothing has waited for it.
  bool is_open = false;
  int cycles = 0;  // fewest between the two issues; up to kLongestLatency if the first is fixed
};

// A wait for a scoreboard that was set `cycles` before, and a register that it settles.
struct ScoreboardWait {
  std::size_t setter = 0, waiter = 0;
  RegisterFile file = RegisterFile::kGeneral;
  int reg = 0;
  int cycles = 0;
};

struct DependenceListener {
  std::function<void(const RegisterDependence&)> dependence = [](const RegisterDependence&) {};
  std::function<void(const ScoreboardWait&)> wait = [](const ScoreboardWait&) {};
};

// Instructions of fixed latency that lie this far apart do not depend on each other.
inline constexpr int kLongestLatency = 32;

// Whether only a scoreboard shows when the instruction is done.
bool is_variable(const Operation& operation, int sm);
// Scoreboards that must be free before the instruction is issued.
unsigned waited_scoreboards(const Program& program, std::size_t at);
// A wait until all but the last `most` of the instructions that set a scoreboard are done, as far
// as these are done in order. DEPBAR.LE SB0, 0x1 leaves the last one open.
struct CountedWait {
  int scoreboard = -1;  // -1: the instruction is no such wait
  int most = 0;
};
CountedWait counted_wait(const Program& program, std::size_t at);
int cycles_of(const Control& control);  // until the same warp may issue again

void visit_register_dependences(const Program& program, const DependenceListener& listener);

}  // namespace tessera::sass
