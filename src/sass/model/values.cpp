#include "sass/model/values.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sass/model/symbols.h"

namespace tessera::sass {

std::string text_of(Place place) {
  static const char* const kPrefixes[] = {"R", "UR", "P", "UP"};
  return kPrefixes[static_cast<int>(place.first)] + std::to_string(place.second);
}

std::string where(const Program& program, std::size_t at) {
  char offset[24];
  std::snprintf(offset, sizeof offset, "0x%04zx", at * kInstructionBytes);
  return program.name + " at " + offset;
}

std::string first_difference(const Program& before, const std::vector<Effect>& first,
                             const std::vector<Effect>& second) {
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (first[i].key == second[i].key) continue;
    return where(before, first[i].at) + ", " + before.operations[first[i].at].text +
           ": the other version does something else in its place, or with other values.";
  }
  if (first.size() == second.size()) return "";
  return "the versions differ in their number of effects.";
}

std::string different_shape(const Program& before, const Program& after) {
  if (before.code.size() != after.code.size()) return "the versions differ in length.";
  if (before.sm != after.sm) return "the versions are of different architectures.";
  if (before.blocks.size() != after.blocks.size()) return "the versions differ in their branches.";
  for (std::size_t i = 0; i < before.blocks.size(); ++i) {
    const Block &first = before.blocks[i], &second = after.blocks[i];
    if (first.begin != second.begin || first.end != second.end || first.next != second.next) {
      return where(before, first.begin) + ": the versions differ in their branches.";
    }
  }
  return "";
}

void execute(const Run& run, std::size_t at, Key key) {
  const Operation& operation = run.program.operations[at];
  const auto place_of = [&](const RegisterUse& use, int reg) -> Place {
    return {use.file, use.file == RegisterFile::kGeneral ? run.to_first[reg] : reg};
  };
  const auto value_of = [&](Place place) {
    return static_cast<std::uint64_t>(run.registers.read(place));
  };
  for (const RegisterUse& use : operation.reads) {
    for (int reg = use.first; reg < use.first + use.count; ++reg) {
      key.push_back(value_of(place_of(use, reg)));
    }
  }
  if (key.front() == kEffect) {
    key.push_back(run.effects.size());
    // WHY: distances of branches count from the branch, so its position matters.
    if (operation.timing == Timing::kControl) key.push_back(at);
    run.effects.push_back({at, key});
  }
  std::uint64_t result = 0;
  for (const RegisterUse& use : operation.writes) {
    for (int reg = use.first; reg < use.first + use.count; ++reg) {
      Key value = key;
      if (key.front() != kZero) value.push_back(result++);
      const Place place = place_of(use, reg);
      if (run.program.is_guarded(at)) value.push_back(value_of(place));
      run.registers.write(place, run.expressions.of(value));
    }
  }
}

namespace {

// One version of one block, run on symbols.
class Version {
 public:
  Version(const Program& program, const Renaming& to_first, Expressions& expressions)
      : program_(program), to_first_(to_first), expressions_(expressions) {}

  // Runs instructions [begin, end) from registers that hold symbols named by `origin`.
  Registers run(std::size_t begin, std::size_t end, const Key& origin) {
    Registers registers(expressions_, origin);
    effects_.clear();
    const Run run{program_, to_first_, expressions_, registers, effects_};
    for (std::size_t at = begin; at < end; ++at) {
      const Instruction bare = without_control(renamed(program_.code[at], program_.sm, to_first_));
      execute(run, at, {is_pure(program_.operations[at]) ? kPure : kEffect, bare.low, bare.high});
    }
    return registers;
  }
  const std::vector<Effect>& effects() const { return effects_; }

 private:
  const Program& program_;
  const Renaming& to_first_;
  Expressions& expressions_;
  std::vector<Effect> effects_;
};

std::string first_difference(const Program& before, std::size_t begin, const Registers& first,
                             const Registers& second) {
  std::set<Place> places;
  for (const auto& [place, value] : first.written()) places.insert(place);
  for (const auto& [place, value] : second.written()) places.insert(place);
  for (const Place& place : places) {
    if (first.read(place) == second.read(place)) continue;
    return "the block of " + where(before, begin) + " leaves another value in " + text_of(place) +
           ".";
  }
  return "";
}

Renaming inverse(const Renaming& renaming) {
  Renaming inverse;
  inverse.fill(-1);
  for (int reg = 0; reg < 256; ++reg) {
    const int to = renaming[reg];
    if (to < 0 || to > 255 || inverse[to] != -1) {
      throw std::invalid_argument("A renaming of registers is a permutation of 0 to 255.");
    }
    inverse[to] = reg;
  }
  if (inverse[255] != 255) throw std::invalid_argument("RZ has no other name.");
  return inverse;
}

// Whether the instruction may touch every register and all of memory, because it is not in the
// decoder's table.
bool is_fence(const Operation& operation) { return !operation.known; }

}  // namespace

bool is_pure(const Operation& operation) {
  static const std::set<std::string, std::less<>> kPureNames = {
      "FFMA", "FMUL", "FADD",  "IMAD", "IMAD.WIDE", "IMAD.HI", "IADD3", "LEA",   "LOP3",
      "SHF",  "SEL",  "ISETP", "MOV",  "PLOP3",     "FSETP",   "FSEL",  "FMNMX", "PRMT"};
  return operation.known && operation.timing == Timing::kFixed &&
         kPureNames.contains(operation.name);
}

Equality prove_equal(const Program& before, const Program& after, const Renaming& renaming) {
  Equality equality;
  equality.reason = different_shape(before, after);
  if (!equality.reason.empty()) return equality;
  const Renaming same = no_renaming(), to_first = inverse(renaming);
  Expressions expressions;
  Version first(before, same, expressions), second(after, to_first, expressions);
  for (const Block& block : before.blocks) {
    std::size_t begin = block.begin;
    for (std::size_t end = begin; end <= block.end; ++end) {
      const bool at_fence = end < block.end && is_fence(before.operations[end]);
      if (end < block.end && !at_fence) continue;
      const Key origin = {kAtEntry, begin};
      const Registers left = first.run(begin, end, origin), right = second.run(begin, end, origin);
      equality.reason = first_difference(before, first.effects(), second.effects());
      if (equality.reason.empty()) equality.reason = first_difference(before, begin, left, right);
      if (equality.reason.empty() && at_fence &&
          (before.code[end].low != after.code[end].low ||
           without_control(before.code[end]).high != without_control(after.code[end]).high ||
           renaming != same)) {
        equality.reason = where(before, end) + ": nothing is known about " +
                          before.operations[end].text + ", so it must stay as it is.";
      }
      if (!equality.reason.empty()) return equality;
      equality.effects += first.effects().size();
      begin = end + 1;
    }
    ++equality.blocks;
  }
  equality.expressions = expressions.size();
  equality.is_proved = true;
  return equality;
}

}  // namespace tessera::sass
