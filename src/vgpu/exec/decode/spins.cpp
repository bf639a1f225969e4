#include "vgpu/exec/decode/spins.h"

#include <algorithm>

namespace tessera::vgpu {
namespace {

// Whether it is an atomic, or a load that the compiler may not move out of the loop.
bool reads_what_others_write(const InstructionInfo& info) {
  if (info.touches != Touches::kLoads) return false;
  if (info.form.starts_with("atom")) return true;
  const auto is = [&](const char* modifier) {
    return info.form.find(modifier) != std::string::npos;
  };
  return is(".acquire") || is(".relaxed") || is(".volatile");
}

bool stays_inside(const Control& control) {
  return control.kind == ControlKind::kFall || control.kind == ControlKind::kBranch ||
         control.kind == ControlKind::kYield || control.kind == ControlKind::kCollective;
}

// The loop consists of the blocks from the target of its backward branch to that branch.
bool may_spin(const std::vector<InstructionInfo>& instructions, const Function& function,
              std::uint32_t first, std::uint32_t last) {
  bool reads = false;
  for (std::uint32_t b = first; b <= last; ++b) {
    const BasicBlock& block = function.blocks[b];
    if (!stays_inside(block.control)) return false;
    for (std::uint32_t i = block.first_instruction; i < block.last_instruction; ++i) {
      if (instructions[i].touches == Touches::kStores) return false;
      reads |= reads_what_others_write(instructions[i]);
    }
  }
  return reads;
}

}  // namespace

void mark_spins(const std::vector<InstructionInfo>& instructions, Function& function) {
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    Control& control = function.blocks[b].control;
    if (control.kind != ControlKind::kBranch || control.targets[0] > b) continue;
    control.may_spin = may_spin(instructions, function, control.targets[0], b);
  }
}

}  // namespace tessera::vgpu
