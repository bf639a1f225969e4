// Results of fixed latency are not waited for: the distance between two instructions has to be long
// enough, and NVIDIA does not say how long that is. ptxas knows. These are the shortest distances
// that it left in everything that this repository compiles, for each architecture;
// tools/calibrate/mine_latencies reads them off again. Nothing here claims that silicon needs as
// much.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sass/model/register_dependences.h"

namespace tessera::sass {

// Instructions that hand results on, or take them, at the same time.
enum class LatencyClass {
  kFma,         // FFMA, FMUL, FADD, IMAD, VIADD
  kWide,        // IMAD.WIDE, IMAD.HI
  kWideAddend,  // the third operand of these, needed later
  kAlu,         // integer, logic, comparison, moves
  kHalf,        // HFMA2.MMA
  kPacked,      // HADD2, HMUL2
  kClock,       // CS2R
  kDouble,      // DFMA, DMUL, DADD, DSETP
  kMatrix,      // DMMA, HMMA
  kMemory,      // loads, stores, atomics, copies
  kUnit,        // all else that signals by scoreboards: MUFU, conversions, LDC, SYNCS
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
// The class of the second instruction in a dependence; it depends on the operand that the
// instruction needs.
LatencyClass class_of_second(const Operation& operation, const RegisterDependence& dependence);

struct LatencyRow {
  DependenceKind kind;
  RegisterFile file;
  LatencyClass first, second;
  int cycles;
};
// The smallest stalls that ptxas uses after an instruction of this name, whatever follows.
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
// The table of this architecture or, if it has none, of the last architecture before it that has
// one; at least sm_75's.
const LatencyTable& latencies_of(int sm);
// The same from kernels of public repositories (tools/sass_hazards), as far as they are
// shorter than those of latencies_of().
const LatencyTable& public_latencies_of(int sm);

// The distances of one table or two, found by the classes of producer and consumer. The shorter one
// of two counts.
class Distances {
 public:
  explicit Distances(const LatencyTable& table, const LatencyTable& more = {});
  // Cycles that must lie between the two; kLongestLatency if nothing is known of the first.
  int least(DependenceKind kind, RegisterFile file, LatencyClass first, LatencyClass second) const;
  std::span<const StallRow> stalls() const { return stalls_; }

 private:
  void add(const LatencyTable& table);

  std::vector<int> cycles_;  // by kind, file, first, second; 0: no row
  std::vector<StallRow> stalls_;
};
const Distances& distances_of(int sm);  // distances from latencies_of() and public_latencies_of()

// HW: a scoreboard shows one cycle after the instruction that sets it; ptxas never waits earlier.
inline constexpr int kScoreboardShows = 2;

}  // namespace tessera::sass
