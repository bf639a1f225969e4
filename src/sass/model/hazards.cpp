#include "sass/model/hazards.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "sass/model/register_dependences.h"
#include "sass/model/reuse.h"

namespace tessera::sass {
namespace {

std::string register_name(RegisterFile file, int reg) {
  static const char* const kPrefixes[] = {"R", "UR", "P", "UP"};
  return kPrefixes[static_cast<int>(file)] + std::to_string(reg);
}

std::string place_of(const Program& program, std::size_t at) {
  char offset[24];
  std::snprintf(offset, sizeof offset, "0x%04zx", at * kInstructionBytes);
  return program.operations[at].name + " at " + offset;
}

// The findings for one program; each pair of instruction and reason is reported once.
class Findings {
 public:
  Findings(const Program& program, const Distances& distances)
      : program_(program), distances_(distances) {}

  void add(std::size_t at, const std::string& reason) { add(at, at, reason); }
  void add(std::size_t at, std::size_t by, const std::string& reason) {
    found_.emplace(at, by, reason);
  }

  void judge(const RegisterDependence& dependence) {
    const Operation &first = program_.operations[dependence.first],
                    &second = program_.operations[dependence.second];
    const std::string reg = register_name(dependence.file, dependence.reg);
    const std::string by = place_of(program_, dependence.first);
    if (dependence.is_open) {
      const bool reads = dependence.kind == DependenceKind::kWriteAfterRead;
      add(dependence.second, dependence.first,
          reg + (reads ? " may still have to be read by " : " may still be written by ") + by +
              ", and nothing on the way waits for that.");
      return;
    }
    const int least = distances_.least(dependence.kind, dependence.file, class_of_first(first),
                                       class_of_second(second, dependence));
    if (dependence.cycles >= least) return;
    const bool reads = dependence.kind == DependenceKind::kReadAfterWrite;
    add(dependence.second, dependence.first,
        std::string(reads ? "it reads " : "it writes ") + reg + " " +
            std::to_string(dependence.cycles) + " cycles after " + by + " wrote it; ptxas leaves " +
            std::to_string(least) + ".");
  }

  void judge(const ScoreboardWait& wait) {
    if (wait.cycles >= kScoreboardShows || !waits_at_issue(wait)) return;
    add(wait.waiter, wait.setter,
        "it waits for " + place_of(program_, wait.setter) +
            " in the next cycle, when its scoreboard does not show yet.");
  }

  // HW: a DEPBAR may also wait for scoreboards that its operands name. The distance to the setter
  // is not checked for these scoreboards, because ptxas lets the DEPBAR follow the setter at once.
  bool waits_at_issue(const ScoreboardWait& wait) const {
    const Control& setter = program_.operations[wait.setter].control;
    const Operation& waiter = program_.operations[wait.waiter];
    const auto is_waited = [&](int scoreboard) {
      return scoreboard >= 0 && (waiter.control.wait_mask >> scoreboard & 1) != 0;
    };
    return waiter.name != "DEPBAR" || is_waited(setter.write_scoreboard) ||
           is_waited(setter.read_scoreboard);
  }

  std::vector<Hazard> list() const {
    std::vector<Hazard> hazards;
    for (const auto& [at, by, reason] : found_) hazards.push_back({at, by, reason});
    return hazards;
  }

 private:
  const Program& program_;
  const Distances& distances_;
  std::set<std::tuple<std::size_t, std::size_t, std::string>> found_;
};

void check_code(const Program& program, std::size_t at, std::span<const StallRow> stalls,
                Findings& findings) {
  const Operation& operation = program.operations[at];
  if (!operation.known) findings.add(at, "nothing is known about this instruction.");
  const std::string illegal = illegal_control(operation);
  if (!illegal.empty()) findings.add(at, illegal + ".");
  for (const StallRow& row : stalls) {
    if (operation.name != row.name || operation.control.stall >= row.stall) continue;
    findings.add(at, "its stall is " + std::to_string(operation.control.stall) +
                         "; ptxas gives it at least " + std::to_string(row.stall) + ".");
  }
}

// HW: pairs of registers start at even numbers, operands of 128-bit loads and stores at multiples
// of four.
void check_alignment(const Program& program, std::size_t at, Findings& findings) {
  const Operation& operation = program.operations[at];
  const auto check = [&](const RegisterUse& use) {
    if (use.file != RegisterFile::kGeneral || use.count < 2) return;
    const int step = operation.name.ends_with(".128") && use.count == 4 ? 4 : 2;
    if (use.first % step == 0) return;
    findings.add(at, register_name(use.file, use.first) + " cannot start a tuple of " +
                         std::to_string(use.count) + " registers.");
  };
  for (const RegisterUse& use : operation.reads) check(use);
  for (const RegisterUse& use : operation.writes) check(use);
}

// The possible contents of a slot of the reuse cache, each with the register, the instruction that
// kept the register, and whether the register was written since.
using KeptOfSlot = std::set<std::tuple<int, std::size_t, bool>>;
using Cache = std::array<KeptOfSlot, kBanks * kSlots>;

bool merge(const Cache& from, Cache& into) {
  bool changed = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t before = into[i].size();
    into[i].insert(from[i].begin(), from[i].end());
    changed |= into[i].size() != before;
  }
  return changed;
}

void make_stale(Cache& cache, const RegisterUse& use) {
  for (KeptOfSlot& kept : cache) {
    KeptOfSlot next;
    for (const auto& [reg, by, stale] : kept) {
      const bool written = reg >= use.first && reg < use.first + use.count;
      next.emplace(reg, by, stale || written);
    }
    kept = std::move(next);
  }
}

// WHY: an entry is assumed to stay in the cache until a read by an instruction of fixed latency
// replaces it. Reads by guarded instructions count as well (otherwise code that ptxas writes would
// be wrong). `findings` is nullptr while paths are still being followed.
void step(const Program& program, std::size_t at, Cache& cache, Findings* findings) {
  const Operation& operation = program.operations[at];
  if (operation.timing == Timing::kFixed) {
    for (const RegisterUse& use : operation.reads) {
      if (use.file != RegisterFile::kGeneral || use.operand < 0 || use.operand >= kSlots) continue;
      for (int reg = use.first; reg < use.first + use.count; ++reg) {
        KeptOfSlot& kept = cache[reg % kBanks * kSlots + use.operand];
        for (const auto& [held, by, stale] : kept) {
          if (held != reg || !stale || !findings) continue;
          findings->add(at, register_name(use.file, reg) + " comes from the reuse cache, where " +
                                place_of(program, by) + " kept it before it was written anew.");
        }
        kept.clear();
        if ((operation.control.reuse >> use.operand & 1) != 0) kept.emplace(reg, at, false);
      }
    }
  }
  for (const RegisterUse& use : operation.writes) {
    if (use.file == RegisterFile::kGeneral) make_stale(cache, use);
  }
}

void check_reuse_on_all_paths(const Program& program, Findings& findings) {
  std::vector<Cache> at_entry(program.nodes.size());
  std::vector<bool> seen(program.nodes.size(), false);
  std::set<std::pair<std::size_t, std::size_t>> open = {{0, 0}};
  seen[0] = true;
  const auto run = [&](std::size_t node, Findings* told) {
    Cache cache = at_entry[node];
    const Block& block = program.blocks[program.nodes[node].block];
    for (std::size_t at = block.begin; at < block.end; ++at) step(program, at, cache, told);
    return cache;
  };
  while (!open.empty()) {
    const std::size_t node = open.extract(open.begin()).value().second;
    const Cache cache = run(node, nullptr);
    for (const std::size_t to : program.nodes[node].next) {
      if (merge(cache, at_entry[to]) || !seen[to]) open.insert({program.nodes[to].block, to});
      seen[to] = true;
    }
  }
  for (std::size_t node = 0; node < program.nodes.size(); ++node) run(node, &findings);
}

void check_flags_name_registers(const Program& program, std::size_t at, Findings& findings) {
  const Operation& operation = program.operations[at];
  if (operation.timing != Timing::kFixed || operation.control.yields) return;
  unsigned named = 0;
  for (const RegisterUse& use : operation.reads) {
    if (use.file == RegisterFile::kGeneral && use.operand >= 0) named |= 1u << use.operand;
  }
  if ((operation.control.reuse & ~named) == 0) return;
  findings.add(at, "a reuse flag stands on an operand that is no register.");
}

}  // namespace

std::vector<Hazard> find_hazards(const Program& program, const Distances& distances) {
  Findings findings(program, distances);
  if (const std::size_t at = unreached_code(program); at < program.code.size()) {
    findings.add(at, "no way that is known leads here, so nothing is known of what it meets.");
  }
  for (const Node& node : program.nodes) {
    const Block& block = program.blocks[node.block];
    for (std::size_t at = block.begin; at < block.end; ++at) {
      check_code(program, at, distances.stalls(), findings);
      check_alignment(program, at, findings);
      check_flags_name_registers(program, at, findings);
    }
  }
  visit_register_dependences(
      program, {[&](const RegisterDependence& dependence) { findings.judge(dependence); },
                [&](const ScoreboardWait& wait) { findings.judge(wait); }});
  check_reuse_on_all_paths(program, findings);
  return findings.list();
}

std::vector<Hazard> find_hazards(const Program& program) {
  return find_hazards(program, distances_of(program.sm));
}

std::string text_of(const Program& program, const Hazard& hazard) {
  char offset[24];
  std::snprintf(offset, sizeof offset, "0x%04zx", hazard.at * kInstructionBytes);
  return program.name + " at " + offset + ", " + program.operations[hazard.at].text + ": " +
         hazard.reason;
}

}  // namespace tessera::sass
