// What is observed in a launch on the virtual GPU, and in which of the legal orders the launch
// runs. Report types only: code outside vgpu may include this header.
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

// When an asynchronous operation (a copy, a matrix product) takes effect: when it is issued, or as
// late as legal, inside the wait for it. A correct kernel gives the same result in both cases.
enum class AsyncSchedule : std::uint8_t { kEager, kLazy };

// The bits that undefined values hold. If two launches with different bits give different results,
// the result depends on an undefined value.
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
  // If true, a warp passes a wgmma only when its whole warpgroup has reached it, and one warp's
  // wait covers the reads of all four warps. Hardware does this; PTX does not promise it.
  bool warpgroups_meet = false;
  // If true, threads that store equal values to one address at the same time cause a note, not a
  // race. Every known GPU stores that value; PTX leaves the result undefined.
  bool allows_same_values = false;
  // If true, a copy that overwrites data after threads have read them, without a proxy fence,
  // causes only a note. Documented code of libcu++ has no such fence, but PTX requires it.
  bool allows_unfenced_reads = false;
  // If true, a plain mov between a wgmma.fence and the wgmma that uses its register causes only a
  // note. Compilers sink initialisations below the fence, and ptxas places them correctly.
  bool allows_moves_after_fence = false;
  std::uint64_t sample_ctas = 0;  // 0: all; else only about so many CTAs run, drawn by seed:
  std::uint64_t sample_seed = 1;  // counts are scaled up (a model), results are incomplete
  // Ends the launch with Fault kStopped when it becomes true; it is polled from time to time.
  const std::atomic<bool>* stop = nullptr;
  std::uint64_t instruction_budget = 0;   // warp instructions; more end the launch; 0: no limit
  WrittenLines* record_writes = nullptr;  // lines of global memory that are stored to
  ReachedMemory* reached = nullptr;       // how far into its allocations it reaches
  // The lines that an earlier run of the same launch wrote; null: none. With them the checks need
  // not remember reads of other lines. The record says whether it is incomplete.
  const WrittenLines* written_lines = nullptr;
  // Stores that may update a word that their thread has read; null: not known. With them the checks
  // find lost updates.
  const std::vector<Update>* updates = nullptr;
  // Accesses whose address is computed from only one array; null: not known.
  const std::vector<ArrayUse>* arrays = nullptr;
  // Registers per thread at the launch, from the machine code. 0: not known; the checks then do not
  // count the registers of setmaxnreg.
  int registers = 0;
  PrintLog* prints = nullptr;  // output of printf(); null: discarded
  UndefinedBits undefined;
};

}  // namespace tessera::vgpu
