#include "sass/model/renamed_values.h"

#include <algorithm>
#include <set>

#include "sass/model/register_fields.h"
#include "sass/model/symbols.h"

namespace tessera::sass {
namespace {

// Returns the instruction without its control field and without the numbers of its general
// registers, whose values are compared instead. RZ is not a register and stays.
Instruction canonical(const Program& program, std::size_t at) {
  Instruction bare = without_control(program.code[at]);
  for (const RegisterField& field :
       register_fields(program.code[at], program.sm, program.operations[at])) {
    bare = with_register(bare, field.first, 0);
  }
  return bare;
}

// Whether the instruction is a CS2R of SRZ, which writes zeros.
bool is_zeros(const Instruction& instruction) {
  constexpr int kCs2r = 0x805;
  constexpr std::uint64_t kSrz = 255;
  return instruction.key() == kCs2r && instruction.bits(72, 8) == kSrz;
}

// One version of one block, run on symbols, with the register names of that version.
class RenamedVersion {
 public:
  RenamedVersion(const Program& program, Expressions& expressions)
      : program_(program), expressions_(expressions), canonical_(program.code.size()) {
    for (std::size_t at = 0; at < program.code.size(); ++at)
      canonical_[at] = canonical(program, at);
  }

  void run(const Block& block, Registers& registers) {
    effects_.clear();
    static const Renaming kOwnNames = no_renaming();
    const Run run{program_, kOwnNames, expressions_, registers, effects_};
    for (std::size_t at = block.begin; at < block.end; ++at) execute(run, at, key_of(at));
  }
  const std::vector<Effect>& effects() const { return effects_; }

 private:
  Key key_of(std::size_t at) const {
    if (is_zeros(program_.code[at])) return {kZero};
    return {is_pure(program_.operations[at]) ? kPure : kEffect, canonical_[at].low,
            canonical_[at].high};
  }

  const Program& program_;
  Expressions& expressions_;
  std::vector<Instruction> canonical_;
  std::vector<Effect> effects_;
};

class Proof {
 public:
  Proof(const Program& before, const Program& after, std::span<const BlockRenaming> renaming)
      : before_(before),
        after_(after),
        renaming_(renaming),
        first_(before, expressions_),
        second_(after, expressions_),
        next_(before.blocks.size()),
        is_reached_(before.blocks.size(), false) {
    for (const Node& node : before.nodes) {
      is_reached_[node.block] = true;
      for (const std::size_t to : node.next) next_[node.block].insert(before.nodes[to].block);
    }
  }

  Equality run() {
    // WHY refuse: code without a known path to it may still run, if flow.cpp missed the path. The
    // registers of such code were once left unrenamed, and a kernel that had been proved equal left
    // a part of D unwritten.
    if (const std::size_t at = unreached_code(before_); at < before_.code.size()) {
      equality_.reason = where(before_, at) + ": no way that is known leads here.";
    }
    for (std::size_t block = 0; block < before_.blocks.size() && equality_.reason.empty();
         ++block) {
      prove(block);
    }
    equality_.expressions = expressions_.size();
    equality_.is_proved = equality_.reason.empty();
    return equality_;
  }

 private:
  void prove(std::size_t index) {
    const Block& block = before_.blocks[index];
    if (!is_reached_[index]) return compare_padding(block);
    for (std::size_t at = block.begin; at < block.end; ++at) {
      if (before_.operations[at].known) continue;
      equality_.reason = where(before_, at) + ": nothing is known about " +
                         before_.operations[at].text + ", so no register may have another name.";
      return;
    }
    const Key origin = {kAtEntry, block.begin};
    Registers first(expressions_, origin), second(expressions_, {kUnknown, block.begin});
    begin(index, first, second);
    if (!equality_.reason.empty()) return;
    first_.run(block, first);
    second_.run(block, second);
    equality_.reason = first_difference(before_, first_.effects(), second_.effects());
    equality_.effects += first_.effects().size();
    ++equality_.blocks;
    for (const std::size_t to : next_[index]) {
      if (equality_.reason.empty()) compare(block, to, first, second);
    }
  }

  void compare_padding(const Block& block) {
    for (std::size_t at = block.begin; at < block.end; ++at) {
      const bool is_same = before_.code[at].low == after_.code[at].low &&
                           before_.code[at].high == after_.code[at].high;
      if (!is_same) equality_.reason = where(before_, at) + ": code that nothing reaches differs.";
    }
  }

  // Gives corresponding registers of both versions the same symbols.
  void begin(std::size_t index, const Registers& first, Registers& second) {
    for (const RegisterFile file :
         {RegisterFile::kUniform, RegisterFile::kPredicate, RegisterFile::kUniformPredicate}) {
      for (int reg = 0; reg < 64; ++reg) second.write({file, reg}, first.read({file, reg}));
    }
    std::set<int> taken;
    for (const auto& [from, to] : renaming_[index]) {
      const bool is_first = !before_.nodes.empty() && before_.nodes.front().block == index;
      if (!taken.insert(to).second || (is_first && from != to)) {
        equality_.reason = where(before_, before_.blocks[index].begin) + ": the renaming gives R" +
                           std::to_string(to) + " to two values.";
        return;
      }
      const RegisterFile general = RegisterFile::kGeneral;
      second.write({general, to}, first.read({general, from}));
    }
  }

  void compare(const Block& block, std::size_t to, const Registers& first,
               const Registers& second) {
    const auto differ = [&](Place one, Place other) {
      if (first.read(one) == second.read(other)) return;
      equality_.reason = "the block of " + where(before_, block.begin) +
                         " leaves another value in " + text_of(other) + " than in " + text_of(one) +
                         " before.";
    };
    for (const auto& [from, other] : renaming_[to]) {
      differ({RegisterFile::kGeneral, from}, {RegisterFile::kGeneral, other});
    }
    for (const auto& [place, value] : first.written()) {
      if (place.first != RegisterFile::kGeneral) differ(place, place);
    }
    for (const auto& [place, value] : second.written()) {
      if (place.first != RegisterFile::kGeneral) differ(place, place);
    }
  }

  const Program& before_;
  const Program& after_;
  std::span<const BlockRenaming> renaming_;
  Expressions expressions_;
  RenamedVersion first_, second_;
  std::vector<std::set<std::size_t>> next_;
  std::vector<bool> is_reached_;
  Equality equality_;
};

}  // namespace

Equality prove_equal(const Program& before, const Program& after,
                     std::span<const BlockRenaming> renaming) {
  Equality equality;
  equality.reason = different_shape(before, after);
  if (equality.reason.empty() && renaming.size() != before.blocks.size()) {
    equality.reason = "the renaming is of other blocks.";
  }
  if (!equality.reason.empty()) return equality;
  return Proof(before, after, renaming).run();
}

}  // namespace tessera::sass
