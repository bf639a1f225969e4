// The input of an operation: one decoded instruction, and the state of the warp that runs it. It is
// plain data, because the operations are compiled twice (for AVX2 and AVX-512) and the two sets
// must not share code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/memory/block.h"

namespace tessera::vgpu {

constexpr int kLanes = 32;
constexpr std::uint32_t kAllLanes = 0xffffffffu;
constexpr int kMaxOperands = 8;

struct Op;
struct Lanes;

// Runs the instructions [first, last), which are neighbours and have one operation in common.
using Run = void (*)(const Op* first, const Op* last, Lanes& lanes);

// One decoded instruction. An operand is a byte offset into the registers of the frame. There a
// 32-bit register is 32 adjacent words, one per lane; a predicate is one 32-bit mask; a constant is
// a register that no instruction writes.
struct Op {
  Run run = nullptr;
  Run guarded = nullptr;       // the operation that run_guarded runs
  std::int64_t immediate = 0;  // address offset; other operations: see there
  std::uint32_t operand[kMaxOperands] = {};
  std::uint32_t guard = 0;        // offset of the guard predicate; bit 0: negated
  std::uint32_t instruction = 0;  // index in the kernel
  std::uint32_t flags = 0;        // their meaning depends on the operation
  std::uint32_t list = 0;         // more operands, in Lanes::operand_lists from here on
};

// Counts of an instruction that cannot be derived from the counts of its basic block.
struct InstructionCounter {
  std::uint64_t warp = 0;
  std::uint64_t thread = 0;
};

// HW: the maximum number of CTAs per cluster on compute capability 9.0, if the kernel allows more
// than 8 (CUDA C++ Programming Guide, thread block clusters).
constexpr std::uint32_t kMaxCluster = 16;

// The shared memories of a cluster's CTAs, by rank; all have the same size.
struct ClusterMemory {
  std::byte* shared[kMaxCluster] = {};
  std::uint32_t ctas = 1;
  std::uint32_t live = 1;  // one bit a rank: some of its threads have not exited
};

// The state of a warp that operations use: registers, active lanes, and the memories that the warp
// can access.
struct Lanes {
  std::byte* registers = nullptr;        // registers of the current frame
  std::uint32_t mask = 0;                // active lanes
  const MemoryBlock** blocks = nullptr;  // the allocation each instruction touched last
  std::byte* shared = nullptr;
  std::uint32_t shared_bytes = 0;  // static and dynamic
  std::uint32_t shared_first = 0;  // the address of its first byte, which holds the CTA's rank
  const ClusterMemory* cluster = nullptr;
  std::byte* local = nullptr;  // lane l's local memory is at l * local_stride
  std::uint32_t local_stride = 0;
  std::uint32_t local_bytes = 0;      // in use by the frames so far
  const std::byte* params = nullptr;  // parameters of the kernel
  std::uint32_t param_bytes = 0;
  std::byte* call_params = nullptr;  // in the frame; lane l's are at l * call_param_bytes
  std::uint32_t call_param_bytes = 0;
  InstructionCounter* counters = nullptr;        // counters of the kernel, by Op::instruction
  const std::uint32_t* operand_lists = nullptr;  // the function's lists: Op::list points into them
  class Observer* observer = nullptr;            // null: there is none
  const struct StoredValues* stored = nullptr;   // values of a store that is being reported
  // For a shuffle: the lanes that read from a lane outside the member mask. They get an undefined
  // value: the register of the source lane, or, if `fills_outside` is set, the bits `outside`.
  std::uint32_t read_outside = 0;
  bool fills_outside = false;
  std::uint32_t outside = 0;
  class AsyncWarp* warp = nullptr;  // for faults, which must know more
};

}  // namespace tessera::vgpu
