#include "vgpu/exec/decode/ordering.h"

#include "vgpu/exec/decode/form.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

// PTX ISA: ld.volatile is like ld.relaxed with system scope. WHY only in global memory: in shared
// memory, volatile is a mark of code that relies on the lanes of a warp running in step.
bool is_volatile_global(const ptx::Instruction& instruction) {
  return has_modifier(instruction, "volatile") && has_modifier(instruction, "global");
}

MemoryOrder order_of(const ptx::Instruction& instruction, MemoryOrder unnamed) {
  if (has_modifier(instruction, "acq_rel")) return MemoryOrder::kAcquireRelease;
  if (has_modifier(instruction, "acquire")) return MemoryOrder::kAcquire;
  if (has_modifier(instruction, "release")) return MemoryOrder::kRelease;
  if (has_modifier(instruction, "relaxed") || has_modifier(instruction, "mmio")) {
    return MemoryOrder::kRelaxed;
  }
  return is_volatile_global(instruction) ? MemoryOrder::kRelaxed : unnamed;
}

}  // namespace

MemoryScope scope_of(const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "cta")) return MemoryScope::kCta;
  if (has_modifier(instruction, "cluster")) return MemoryScope::kCluster;
  const bool is_system = has_modifier(instruction, "sys") || is_volatile_global(instruction);
  return is_system ? MemoryScope::kSystem : MemoryScope::kGpu;
}

std::uint32_t ordering_flags(const ptx::Instruction& instruction, MemoryOrder unnamed) {
  return static_cast<std::uint32_t>(order_of(instruction, unnamed)) << kOrderShift |
         static_cast<std::uint32_t>(scope_of(instruction)) << kScopeShift;
}

}  // namespace tessera::vgpu
