// What is observed in a launch on the virtual GPU, and in which of the legal orders the launch
// runs. Report types only: other rooms may include this page.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace tessera::vgpu {

class ReachedMemory;
class PrintLog;
class WrittenLines;
struct Update;
struct ArrayUse;

// When an asynchronous operation (copy, matrix product) happens: at its issue, or at the last
// moment that is legal, inside the wait for it. Both must give the same result.
enum class AsyncSchedule : std::uint8_t { kEager, kLazy };

// Undefined values hold these bits, so that two launches with different bits show whether a result
// depends on them.
struct UndefinedBits {
  std::uint64_t registers = ~std::uint64_t{0};  // bits of unwritten registers, low bits first
  std::uint8_t local = 0xff;                    // each byte of local memory
  std::uint8_t shared = 0xff;                   // each byte of shared memory
  bool fills_shuffles = false;  // else a shuffle reads the register of the lane that is left out
  std::uint32_t shuffles = 0;
};

struct Observation {
  bool instructions = true;  // how often each instruction ran
  bool memory = false;       // sectors, wavefronts, footprint of each access
  bool checks = false;       // races, missing waits and fences, uninitialised reads: findings
  AsyncSchedule schedule = AsyncSchedule::kEager;
  std::uint64_t warp_order_seed = 0;  // 0: warps take turns by index; else in a seeded random order
  // Whether a warp passes a wgmma only when its three siblings have reached it, and a wait of one
  // warp covers the reads of all four. Silicon behaves like this; PTX does not promise it.
  bool warpgroups_meet = false;
  // Threads that store the same value to one place at once are a note, not a race. Every GPU stores
  // that value; PTX leaves the result open.
  bool allows_same_values = false;
  // A copy that overwrites data that threads have read, without a proxy fence, is a note.
  // Documented code of libcu++ has no fence, and PTX requires one.
  bool allows_unfenced_reads = false;
  // A plain mov between a wgmma.fence and the wgmma that uses the register is a note. Compilers
  // sink initialisations after the fence, and ptxas places it rightly.
  bool allows_moves_after_fence = false;
  std::uint64_t sample_ctas = 0;  // 0: all; else only about so many CTAs run, drawn by seed:
  std::uint64_t sample_seed = 1;  // counts are scaled up (a model), results are incomplete
  // Ends the launch with Fault kStopped when it becomes true: checked now and then.
  const std::atomic<bool>* stop = nullptr;
  std::uint64_t instruction_budget = 0;   // warp instructions; more end the launch; 0: no limit
  WrittenLines* record_writes = nullptr;  // lines of global memory that are stored to
  ReachedMemory* reached = nullptr;       // how far into its allocations it reaches
  // The lines that an earlier run of the same launch wrote, so that checks need not remember reads
  // of other lines; null: none. The record says if it was incomplete.
  const WrittenLines* written_lines = nullptr;
  // The stores that may update a word that their thread has read, so that checks see which update
  // is lost; null: not known.
  const std::vector<Update>* updates = nullptr;
  // The accesses whose address is computed from one array only; null: not known.
  const std::vector<ArrayUse>* arrays = nullptr;
  // Registers per thread at the launch, from the machine code. 0: not known, and setmaxnreg is not
  // counted.
  int registers = 0;
  PrintLog* prints = nullptr;  // output of printf(); null: discarded
  UndefinedBits undefined;
};

}  // namespace tessera::vgpu
