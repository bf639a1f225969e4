// Finds register dependences: pairs of instructions of which the second needs a register that the
// first has not finished writing or reading. All paths of a kernel are walked, and each pair is
// reported with the fewest cycles that may lie between the two instructions. The hazard checker
// judges the pairs; tools/calibrate/mine_latencies collects pairs from a compiler's output.
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
  bool as_guard = false;  // the second instruction is guarded by the register
  // Whether the first instruction takes an unknown time and, on some path, nothing has waited for
  // it.
  bool is_open = false;
  int cycles = 0;  // fewest between the two issues; up to kLongestLatency if the first is fixed
};

// A wait for a scoreboard that was set `cycles` before, and a register that the wait makes safe to
// use.
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

// The result of an instruction of fixed latency arrives within this many cycles.
inline constexpr int kLongestLatency = 32;

// Whether the operation has no fixed latency, so that only a scoreboard shows when it is finished.
bool is_variable(const Operation& operation, int sm);
// Returns a mask of the scoreboards that the instruction waits for before it is issued.
unsigned waited_scoreboards(const Program& program, std::size_t at);
// A wait for all instructions that set a scoreboard except the last `most`. It covers only
// instructions that finish in order. DEPBAR.LE SB0, 0x1 waits for all but the last instruction.
struct CountedWait {
  int scoreboard = -1;  // -1: the instruction is no such wait
  int most = 0;
};
CountedWait counted_wait(const Program& program, std::size_t at);
int cycles_of(const Control& control);  // cycles until the same warp may issue again

void visit_register_dependences(const Program& program, const DependenceListener& listener);

}  // namespace tessera::sass
