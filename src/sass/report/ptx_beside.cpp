#include "sass/report/ptx_beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sass/report/ptx_code.h"
#include "sass/report/report_parts.h"

namespace tessera::sass {
namespace {

// The machine operations of PTX opcodes for which PtxInstruction::machine holds no name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOperations = {{
    {"mma.", "MMA"},
    {"wgmma.mma_async", "MMA"},
    {"wmma.mma", "MMA"},
    {"ldmatrix", "LDSM"},
    {"stmatrix", "STSM"},
    {"cp.async.bulk", "TMA"},
    {"cp.async.c", "LDGSTS"},
    {"mbarrier.", "SYNCS"},
    {"bra", "BRA"},
    {"mul.f32", "FMUL"},
    {"mul.rn.f32", "FMUL"},
    {"add.f32", "FADD"},
    {"add.rn.f32", "FADD"},
    {"setp.", "ISETP"},
}};

// Returns the name without the width, since ptxas merges accesses; the row shows the full names.
std::string stem_of(const std::string& name) { return name.substr(0, name.find('.')); }

std::string operation_of(const PtxInstruction& one) {
  if (!one.machine.empty()) return stem_of(one.machine);
  for (const auto& [opcode, operation] : kOperations) {
    if (one.opcode.starts_with(opcode)) return std::string(operation);
  }
  return "";
}

std::string operation_of(const Operation& one) {
  const std::string stem = stem_of(one.name);
  if (stem.ends_with("GMMA") || stem == "HMMA" || stem == "IMMA") return "MMA";
  if (stem.starts_with("UTMA") || stem == "UBLKCP") return "TMA";
  return stem;
}

// Returns the longest list of pairs of equal operations that keeps the order of both sides.
std::vector<std::pair<std::size_t, std::size_t>> in_common(const std::vector<std::string>& a,
                                                           const std::vector<std::string>& b) {
  std::vector<std::vector<int>> most(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  const auto match = [&](std::size_t i, std::size_t j) { return !a[i].empty() && a[i] == b[j]; };
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      most[i][j] = match(i, j) ? most[i + 1][j + 1] + 1 : std::max(most[i + 1][j], most[i][j + 1]);
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (match(i, j)) {
      pairs.emplace_back(i++, j++);
    } else if (most[i + 1][j] >= most[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

bool multiplies(const std::string& operation) {
  return operation == "FFMA" || operation == "DFMA" || operation == "DMMA" || operation == "MMA";
}

// Returns the main loop by the rule of KernelReport::main_loop(): the loop with the largest share
// of multiplies; if several loops have this share, the shortest of them.
const NaturalLoop* main_loop(const PtxCode& code) {
  const NaturalLoop* best = nullptr;
  double most = 0;
  for (const NaturalLoop& loop : code.loops) {
    const auto count = std::ranges::count_if(loop.members, [&](std::size_t at) {
      return multiplies(operation_of(code.instructions[at]));
    });
    const double share = static_cast<double>(count) / static_cast<double>(loop.members.size());
    const bool is_shorter = best && loop.members.size() < best->members.size();
    if (share > most || (share > 0 && share == most && is_shorter)) {
      best = &loop;
      most = share;
    }
  }
  return best;
}

struct Side {
  std::vector<std::string> operations, names, texts;
};

Side ptx_side(const PtxCode& code, const NaturalLoop& loop) {
  Side side;
  for (const std::size_t at : loop.members) {
    const PtxInstruction& one = code.instructions[at];
    side.operations.push_back(operation_of(one));
    side.names.push_back(one.machine.empty() ? operation_of(one) : one.machine);
    side.texts.push_back(one.text);
  }
  return side;
}

Side machine_side(const KernelReport& kernel, const LoopReport& loop) {
  Side side;
  for (const std::size_t at : loop.members) {
    const Operation& one = kernel.operations[at];
    side.operations.push_back(operation_of(one));
    side.names.push_back(
        one.name.starts_with("LD") || one.name.starts_with("ST") ? one.name : operation_of(one));
    side.texts.push_back(fmt::format("{:#07x}  {}", at * kInstructionBytes, one.text));
  }
  return side;
}

// Returns a table of the operations that both sides have, by width, with the count on each side.
std::string count_table(const Side& ptx, const Side& machine) {
  std::map<std::string, std::pair<int, int>> counts;
  for (const std::string& name : ptx.names) {
    if (!name.empty()) ++counts[name].first;
  }
  const auto is_known = [&](const std::string& operation) {
    return std::ranges::find(ptx.operations, operation) != ptx.operations.end();
  };
  for (std::size_t i = 0; i < machine.names.size(); ++i) {
    if (is_known(machine.operations[i])) ++counts[machine.names[i]].second;
  }
  std::vector<std::vector<std::string>> rows = {{"operation", "in the PTX", "in the machine code"}};
  for (const auto& [name, both] : counts) {
    rows.push_back({name, std::to_string(both.first), std::to_string(both.second)});
  }
  rows.push_back(
      {"all instructions", std::to_string(ptx.texts.size()), std::to_string(machine.texts.size())});
  return aligned(rows);
}

std::string side_by_side(const Side& ptx, const Side& machine) {
  constexpr std::size_t kWidth = 56;
  std::string text;
  const auto row = [&](const std::string& left, const std::string& right) {
    text += right.empty() ? left + "\n" : fmt::format("{:<{}} {}\n", left, kWidth, right);
  };
  std::size_t i = 0, j = 0;
  const auto until = [&](std::size_t ptx_end, std::size_t machine_end) {
    while (i < ptx_end) row(ptx.texts[i++], "");
    while (j < machine_end) row("", machine.texts[j++]);
  };
  for (const auto& [left, right] : in_common(ptx.operations, machine.operations)) {
    until(left, right);
    row(ptx.texts[i++], machine.texts[j++]);
  }
  until(ptx.texts.size(), machine.texts.size());
  return text;
}

}  // namespace

std::string ptx_beside(const KernelReport& kernel, std::string_view ptx) {
  const std::vector<PtxCode> all = read_ptx_code(ptx);
  const auto code = std::ranges::find(all, kernel.name, &PtxCode::name);
  if (code == all.end()) throw std::invalid_argument("there is no PTX of " + kernel.name);
  const NaturalLoop* const loop = main_loop(*code);
  if (!loop || !kernel.main_loop()) {
    throw std::invalid_argument(kernel.name + " has no loop that multiplies");
  }
  const Side left = ptx_side(*code, *loop), right = machine_side(kernel, *kernel.main_loop());
  return fmt::format("{}, sm_{}: the loop that multiplies, PTX and machine code\n\n", kernel.name,
                     kernel.sm) +
         count_table(left, right) + "\n" + side_by_side(left, right);
}

}  // namespace tessera::sass
