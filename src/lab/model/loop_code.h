// The loop in which a kernel spends its time, in machine instructions: the cubin's instructions in
// order, each with the unit that it occupies, its stall cycles and its scoreboards, and with the
// virtual GPU's counts for its memory accesses.
//
// How often accesses run, and with which addresses, is known from the PTX; the issued instructions
// are known from SASS. If ptxas merged accesses, the wavefronts of the PTX are spread over the
// machine's accesses of the same kind.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/virtual/observer.h"
#include "sass/container/cubin.h"
#include "sass/decode/operation.h"

namespace tessera::lab {

// Units of an SM that one instruction occupies. kImad is the FMA unit, occupied for longer. kMemory
// is shared by the SM's four partitions; each partition has its own copy of the other units.
enum class Unit { kFma, kImad, kAlu, kFp64, kTensor, kUniform, kControl, kMemory, kBarrier };
inline constexpr int kUnits = 9;

enum class MemoryPath { kNone, kShared, kGlobal };

struct Step {
  Unit unit = Unit::kControl;
  MemoryPath path = MemoryPath::kNone;
  bool is_load = false;
  int stall = 1;                                  // cycles before the warp may issue again
  int port_bubbles = 0;                           // cycles lost to register banks
  unsigned wait_mask = 0;                         // scoreboards that must be free
  int write_scoreboard = 7, read_scoreboard = 7;  // 7: none
  bool branches = false;
  int width = 0;          // 0, 1, 2: 32, 64, 128 bits per lane
  double wavefronts = 0;  // wavefronts in shared memory or L1, per issue
  double sectors = 0;     // sectors of global memory, per issue
};

struct LoopCode {
  std::vector<Step> steps;  // steps of one iteration; inner loops written out
  double iterations = 0;    // iterations per warp
  double multiplies = 0;    // FMA and matrix instructions in the steps
  bool is_empty() const { return steps.empty(); }
};

// Returns the cycles lost to the register ports, for each instruction of a loop's body. Their sum
// is the port model's or, if that is more, the average cost of crowded FFMAs (sass/model/ports.h),
// spread over all FFMAs. Cycles are whole: an instruction gets a cycle where the running sum
// reaches the next whole number.
std::vector<int> port_bubbles(std::span<const sass::Operation> loop, int sm);

// Returns the loop with most of the launch's multiplies; empty for kernels without multiplies, such
// as copies.
LoopCode loop_code(const sass::CubinKernel& kernel, int sm, const LaunchCounts& counts);

}  // namespace tessera::lab
