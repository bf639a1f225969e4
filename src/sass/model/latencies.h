// The shortest distances between dependent instructions. The hardware does not wait for results of
// fixed latency: the distance between two instructions has to be long enough, and NVIDIA does not
// publish how long. The tables hold the shortest distances that ptxas left in all code that this
// repository compiles, for each architecture; tools/calibrate/mine_latencies reads them off the
// code again. The hardware may need less.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sass/model/register_dependences.h"

namespace tessera::sass {

// A class of instructions (or operands) whose results arrive, or are needed, after the same time.
enum class LatencyClass {
  kFma,         // FFMA, FMUL, FADD, IMAD, VIADD
  kWide,        // IMAD.WIDE, IMAD.HI
  kWideAddend,  // the third operand of kWide, needed later
  kAlu,         // integer, logic, comparison, moves
  kHalf,        // HFMA2.MMA
  kPacked,      // HADD2, HMUL2
  kClock,       // CS2R
  kDouble,      // DFMA, DMUL, DADD, DSETP
  kMatrix,      // DMMA, HMMA
  kMemory,      // loads, stores, atomics, copies
  kUnit,        // all others that set scoreboards: MUFU, conversions, LDC, SYNCS
  kToUniform,   // R2UR
  kUniform,     // the uniform pipe
  kConstant,    // ULDC
  kMove,        // UMOV
  kVote,        // VOTEU, ELECT
  kControl,     // branches, barriers, exits
  kGuard,       // whatever is guarded
  kOther,
  kAny  // as a row's second class: every class without a row of its own
};
std::string_view name_of(LatencyClass latency_class);

LatencyClass class_of_first(const Operation& operation);
// Returns the class of the second instruction of a dependence. The class depends on the operand of
// that instruction to which the dependence leads.
LatencyClass class_of_second(const Operation& operation, const RegisterDependence& dependence);

struct LatencyRow {
  DependenceKind kind;
  RegisterFile file;
  LatencyClass first, second;
  int cycles;
};
// The smallest stall that ptxas uses after an instruction of this name, whatever follows.
struct StallRow {
  std::string_view name;
  int stall;
};
// The known latencies of one architecture.
struct LatencyTable {
  int sm = 0;
  std::string_view source;  // "CUDA 13.0.88", whose output the rows come from
  std::span<const LatencyRow> rows;
  std::span<const StallRow> stalls;
};
// Returns the table of this architecture or, without one, the table of the last architecture before
// it that has a table. Before sm_75, returns the table of sm_75.
const LatencyTable& latencies_of(int sm);
// Returns the distances in kernels of public repositories (tools/sass_hazards) that are shorter
// than the distances of latencies_of().
const LatencyTable& public_latencies_of(int sm);

// The distances of one table or two, found by the classes of producer and consumer. Where two
// tables differ, the shorter distance counts.
class Distances {
 public:
  explicit Distances(const LatencyTable& table, const LatencyTable& more = {});
  // Returns the number of cycles that must lie between instructions of these classes;
  // kLongestLatency if nothing is known about the first class.
  int least(DependenceKind kind, RegisterFile file, LatencyClass first, LatencyClass second) const;
  std::span<const StallRow> stalls() const { return stalls_; }

 private:
  void add(const LatencyTable& table);

  std::vector<int> cycles_;  // by kind, file, first, second; 0: no row
  std::vector<StallRow> stalls_;
};
const Distances& distances_of(int sm);  // distances of latencies_of() and public_latencies_of()

// HW: a wait for a scoreboard must be issued at least this many cycles after the instruction that
// sets the scoreboard; ptxas never issues a wait earlier.
inline constexpr int kScoreboardShows = 2;

}  // namespace tessera::sass
