#include "vgpu/observe/check/paths.h"

#include <vector>

namespace tessera::vgpu::check {
namespace {

bool holds(const BasicBlock& block, std::uint32_t instruction) {
  return (block.control.has_instruction && block.control.op.instruction == instruction) ||
         (instruction >= block.first_instruction && instruction < block.last_instruction);
}

bool ends_path(const Control& control) {
  return control.kind == ControlKind::kBarrier || control.kind == ControlKind::kReturn ||
         control.kind == ControlKind::kExit || control.kind == ControlKind::kTrap;
}

// Returns the blocks that may run next.
std::vector<std::size_t> after(const Function& function, std::size_t block) {
  const Control& control = function.blocks[block].control;
  std::vector<std::size_t> next(control.targets.begin(), control.targets.end());
  const bool jumps =
      control.kind == ControlKind::kBranch || control.kind == ControlKind::kBranchTable;
  const bool goes_on = control.guarded || (!jumps && !ends_path(control));
  if (goes_on && block + 1 < function.blocks.size()) next.push_back(block + 1);
  return next;
}

}  // namespace

bool Paths::is_free(std::uint32_t from, std::uint32_t to) {
  const auto [at, is_new] = known_.try_emplace({from, to}, false);
  if (is_new) at->second = find(from, to);
  return at->second;
}

bool Paths::asks_all_threads(std::uint32_t barrier) const {
  for (const Function& function : kernel_.functions) {
    for (const BasicBlock& block : function.blocks) {
      const Control& control = block.control;
      if (!control.has_instruction || control.op.instruction != barrier) continue;
      return control.kind == ControlKind::kBarrier && control.aligned && !control.has_count;
    }
  }
  return false;
}

bool Paths::find(std::uint32_t from, std::uint32_t to) const {
  for (const Function& function : kernel_.functions) {
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
      if (!holds(function.blocks[b], from)) continue;
      if (from < to && holds(function.blocks[b], to)) return true;
      std::vector<bool> seen(function.blocks.size());
      std::vector<std::size_t> open = after(function, b);
      while (!open.empty()) {
        const std::size_t next = open.back();
        open.pop_back();
        if (seen[next]) continue;
        seen[next] = true;
        if (holds(function.blocks[next], to)) return true;
        for (std::size_t more : after(function, next)) open.push_back(more);
      }
      return false;
    }
  }
  return false;
}

}  // namespace tessera::vgpu::check
