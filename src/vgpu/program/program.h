// A decoded kernel, as the warp executor runs it: stretches of operations without control flow, and
// between them control: branches, calls, barriers and all else that may split, block or end a warp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/program/operation.h"

namespace tessera::vgpu {

enum class ControlKind : std::uint8_t {
  kFall,  // nothing: the next block is a branch target
  kBranch,
  kBranchTable,  // operand 0: index
  kCall,
  kReturn,
  kExit,
  kBarrier,        // a barrier of the CTA
  kClusterArrive,  // op.immediate: a MemoryOrder
  kClusterWait,
  kMbarrierWait,  // operand 0: done, 1: object, 2: state or parity
  kWarpgroup,     // the four warps of a warpgroup meet, where Observation says so
  kCollective,    // needs all lanes of a member mask: *.sync; runs op when they are there
  kYield,         // nanosleep
  kTrap,
  kSystemCall,  // op.immediate: a SystemFunction; calls[0] has the places of what is passed
};

// Functions that PTX only declares and the driver provides.
enum class SystemFunction : std::uint8_t {
  kPrint,
  kAssertFail,
  kAllocate,
  kAllocateAligned,
  kFree
};

// HW: the number of barriers per CTA (PTX ISA, bar).
constexpr std::uint32_t kBarriers = 16;

enum class BarrierKind : std::uint8_t { kSync, kArrive, kPopc, kAnd, kOr };

// A parameter of a call: its size and its offsets in the parameter memory of both frames, in bytes.
struct ParamCopy {
  std::uint32_t caller = 0, callee = 0, bytes = 0;
};
struct CallSite {
  std::uint32_t function = 0;  // index in the kernel
  std::uint64_t address = 0;   // the value of a pointer to it
  std::vector<ParamCopy> arguments, returns;
};

struct Control {
  ControlKind kind = ControlKind::kFall;
  BarrierKind barrier = BarrierKind::kSync;
  bool aligned = false;  // the whole warp must be there
  bool guarded = false;
  bool has_count = false;  // kBarrier
  bool indirect = false;   // kCall: operand 0 is the pointer
  bool has_instruction = false;
  bool exchanges = false;  // kCollective: values alone, and orders no memory
  bool may_spin = false;   // kBranch: back, over code that may wait for what others write
  // Operands of kBarrier: 0 and 1 destination and source of a reduction, 2 barrier, 3 threads.
  Op op;
  int member_mask_operand = -1;        // kCollective; -1: all lanes of the warp
  std::vector<std::uint32_t> targets;  // blocks
  std::vector<CallSite> calls;         // one, or those of an indirect call
  // kAssertFail: the instruction whose result made the assertion fail ("setp.lt.s32"); the operands
  // 0 and 1 of `op` are its sources. Empty if it is not known.
  std::string comparison;
};

// Neighbouring instructions with the same operation.
struct Stretch {
  std::uint32_t first = 0, last = 0;  // in Function::ops
};

struct BasicBlock {
  std::uint32_t first_stretch = 0, last_stretch = 0;
  std::uint32_t first_instruction = 0, last_instruction = 0;  // in the kernel, control excluded
  std::uint32_t counter = 0;                                  // in the kernel
  Control control;
};

enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kZero,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kIsExplicitCluster,
  kTotalShared,
  kDynamicShared,
  kReservedShared,
  kGridWorkspaceLow,
  kGridWorkspaceHigh,
};

// A register that the executor writes when it makes the frame.
struct Prefill {
  enum class Kind : std::uint8_t {
    kConstant,
    kSpecial,
    kLocalAddress,
    kSharedAddress,  // bits, and the rank of the CTA
    kPoison
  } kind;
  Scalar scalar;
  Special special = Special::kZero;
  std::uint32_t offset = 0;
  std::uint64_t bits = 0, high_bits = 0;
};

struct Function {
  std::string name;
  std::vector<Op> ops;
  std::vector<Stretch> stretches;
  std::vector<BasicBlock> blocks;
  std::vector<Prefill> prefills;
  std::vector<std::uint32_t> operand_lists;  // for operations with more than kMaxOperands operands
  std::uint32_t frame_bytes = 0;
  std::uint32_t live_registers = 0;    // 32-bit, a lane: the most that hold values at one place
  std::uint32_t local_bytes = 0;       // a lane
  std::uint32_t call_param_bytes = 0;  // a lane
};

// What an instruction does to memory that other threads may access.
enum class Touches : std::uint8_t { kNothing, kLoads, kStores };

struct InstructionInfo {
  std::string form;
  int ptx_line = 0;
  std::string source_file;  // from .loc; empty if unknown
  int source_line = 0;
  std::vector<std::pair<std::string, int>> callers;  // callers of inlined code, innermost first
  bool approximate = false;
  bool counted_with_block = false;
  Touches touches = Touches::kNothing;
};

// A read of a register that no instruction, or not every path to the read, has written before.
struct UnwrittenRead {
  std::uint32_t instruction = 0;
  std::string name;  // the register's name
};

// A statically sized variable in shared memory that the kernel uses.
struct SharedArray {
  std::string name;
  std::uint64_t offset = 0;  // in the shared memory of the CTA
};

struct Kernel {
  std::string name;
  std::vector<Function> functions;  // the entry first
  std::vector<InstructionInfo> instructions;
  std::vector<UnwrittenRead> unwritten_reads;
  std::vector<UnwrittenRead> perhaps_unwritten_reads;  // on one way, and written on another
  std::vector<SharedArray> shared_arrays;
  std::uint32_t block_count = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;
  std::uint32_t param_bytes = 0;
  int max_threads = 0, required_threads = 0;
  std::uint32_t cluster[3] = {};  // required cluster shape; 0: none
  bool explicit_cluster = false;  // it wants a launch with a cluster shape
  std::uint32_t max_cluster_ctas = 0;
  bool uses_heap = false;            // malloc, free
  bool uses_grid_workspace = false;  // grid.sync() of cooperative groups
};

}  // namespace tessera::vgpu
