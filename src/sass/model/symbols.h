// Registers that hold symbols, for proofs about values. Internal to src/sass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/values.h"

namespace tessera::sass {

using Value = int;
using Key = std::vector<std::uint64_t>;

// Gives each different expression one number. An expression is an operation, the numbers of its
// operands, and which of its results is meant.
class Expressions {
 public:
  Value of(const Key& key) {
    return numbers_.emplace(key, static_cast<Value>(numbers_.size())).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<Key, Value> numbers_;
};

// The kinds of expressions. kZero: a register that was set to 0, whichever instruction set it.
enum Tag : std::uint64_t { kAtEntry, kUnknown, kPure, kEffect, kZero };

using Place = std::pair<RegisterFile, int>;

// The registers of one version as symbols, under the names that the first version uses.
class Registers {
 public:
  Registers(Expressions& expressions, Key origin)
      : expressions_(expressions), origin_(std::move(origin)) {}

  Value read(Place place) const {
    const auto found = values_.find(place);
    if (found != values_.end()) return found->second;
    Key key = origin_;
    key.push_back(static_cast<std::uint64_t>(place.first));
    key.push_back(static_cast<std::uint64_t>(place.second));
    return expressions_.of(key);
  }
  void write(Place place, Value value) { values_[place] = value; }
  const std::map<Place, Value>& written() const { return values_; }

 private:
  Expressions& expressions_;
  Key origin_;
  std::map<Place, Value> values_;
};

// An effect of one version of a block on anything but registers (memory, control flow): the
// instruction, its operands, and its position if that matters.
struct Effect {
  std::size_t at = 0;
  Key key;
};

// The state in which one version of a block is run.
struct Run {
  const Program& program;
  const Renaming& to_first;  // the program's general registers to their names in `registers`
  Expressions& expressions;
  Registers& registers;
  std::vector<Effect>& effects;
};
// Runs the instruction at `at`. `key` identifies its operation without the operands: a tag and,
// unless the tag is kZero, the instruction's bits. The function appends to `key` the values that
// the instruction reads and, with the tag kEffect, the instruction's position among the effects.
void execute(const Run& run, std::size_t at, Key key);

inline Instruction without_control(Instruction instruction) {
  constexpr std::uint64_t kControl = ((std::uint64_t{1} << 21) - 1) << (105 - 64);
  instruction.high &= ~kControl;
  return instruction;
}

// Returns "" if both versions have the same blocks, else a sentence: "the versions differ in
// length."
std::string different_shape(const Program& before, const Program& after);
// Returns the kernel and the address: "NAME at 0x1230".
std::string where(const Program& program, std::size_t at);
std::string text_of(Place place);
// Returns a sentence on the first effect in which the second version differs; "" if there is none.
std::string first_difference(const Program& before, const std::vector<Effect>& first,
                             const std::vector<Effect>& second);

}  // namespace tessera::sass
