#include "tools/sass_hazards/edits.h"

#include <set>

#include "sass/decode/operation.h"

namespace tessera::sass {

std::vector<Edit> edits_of(const Program& program, std::mt19937_64& random) {
  constexpr int kScoreboards = 6;
  std::set<std::size_t> blocks;  // a subroutine's block is several nodes
  for (const Node& node : program.nodes) blocks.insert(node.block);
  std::vector<Edit> edits;
  for (const std::size_t block : blocks) {
    for (std::size_t at = program.blocks[block].begin; at < program.blocks[block].end; ++at) {
      const Control& control = program.operations[at].control;
      for (int scoreboard = 0; scoreboard < kScoreboards; ++scoreboard) {
        if ((control.wait_mask >> scoreboard & 1) == 0) continue;
        edits.push_back({.kind = Edit::Kind::kWait, .at = at, .scoreboard = scoreboard});
      }
      if (control.stall < 2) continue;
      const int stall = 1 + static_cast<int>(random() % static_cast<unsigned>(control.stall - 1));
      edits.push_back({.kind = Edit::Kind::kStall, .at = at, .stall = stall});
    }
  }
  return edits;
}

Program edited(const Program& program, const Edit& edit) {
  Program changed = program;
  Control control = program.operations[edit.at].control;
  if (edit.kind == Edit::Kind::kWait) {
    control.wait_mask &= ~(1u << edit.scoreboard);
  } else {
    control.stall = edit.stall;
  }
  changed.code[edit.at] = with_control(program.code[edit.at], control);
  changed.operations[edit.at] =
      decode(changed.code[edit.at], edit.at * kInstructionBytes, program.sm);
  return changed;
}

}  // namespace tessera::sass
