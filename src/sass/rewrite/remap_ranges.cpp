#include "sass/rewrite/remap_ranges.h"

#include <algorithm>
#include <map>

#include "sass/rewrite/register_limits.h"

namespace tessera::sass {
namespace {

// Whether the instruction is a CS2R of SRZ. HW: it writes zeros into a pair of registers.
bool is_zeros(const Program& program, std::size_t at) {
  constexpr int kCs2r = 0x805;
  constexpr std::uint64_t kSrz = 255;
  const Instruction& instruction = program.code[at];
  return instruction.key() == kCs2r && instruction.bits(72, 8) == kSrz && !program.is_guarded(at);
}

void extend(LiveRange& range, std::size_t first, std::size_t last) {
  for (std::size_t at = first; at <= last; ++at) range.live[at / 64] |= std::uint64_t{1} << at % 64;
}

class Builder {
 public:
  explicit Builder(const Program& program) : program_(program) {
    model_.live = live_ranges_of(program);
    for (const LiveRange& range : model_.live.ranges) {
      model_.ranges.push_back({!range.is_at_entry, -1});
    }
    add_limits();
    model_.fields.resize(program.code.size());
  }

  RemapModel run() {
    for (std::size_t block = 0; block < program_.blocks.size(); ++block) add_zeros(block);
    for (std::size_t at = 0; at < program_.code.size(); ++at) {
      if (!is_zeros(program_, at)) add_fields(at);
    }
    return std::move(model_);
  }

 private:
  // Limits the register of each range by every place where the range is live or named.
  void add_limits() {
    const std::vector<int> limits = register_limits(program_);
    const auto limit = [&](int range, std::size_t at) {
      int& least = model_.ranges[static_cast<std::size_t>(range)].limit;
      least = std::min(least, limits[at]);
    };
    for (std::size_t at = 0; at < limits.size(); ++at) {
      for (const auto* list : {&model_.live.reads[at], &model_.live.writes[at]}) {
        for (const auto& [reg, range] : *list) limit(range, at);
      }
    }
    for (std::size_t range = 0; range < model_.ranges.size(); ++range) {
      for (std::size_t at = 0; at < limits.size(); ++at) {
        if (model_.live.ranges[range].is_live_after(at)) limit(static_cast<int>(range), at);
      }
    }
  }

  // Finds the zeros that CS2R instructions of a block write. A range that is used between these
  // instructions, or that has another write, keeps its register.
  void add_zeros(std::size_t index) {
    const Block& block = program_.blocks[index];
    Zeros zeros;
    std::vector<int> begun;
    for (std::size_t at = block.begin; at < block.end; ++at) {
      if (!is_zeros(program_, at)) continue;
      if (begun.empty()) zeros.first = at;
      zeros.last = at;
      for (const auto& [reg, range] : model_.live.writes[at]) {
        zeros.registers.push_back(reg);
        begun.push_back(range);
      }
    }
    if (begun.empty()) return;
    zeros.span.live.resize(program_.code.size() / 64 + 1);
    extend(zeros.span, zeros.first, zeros.last);
    const int number = static_cast<int>(model_.zeros.size());
    for (const int range : begun) {
      RemapRange& one = model_.ranges[static_cast<std::size_t>(range)];
      const bool is_first = one.zeros < 0 && std::ranges::count(begun, range) == 1;
      one.is_single = one.is_single && is_first;
      one.zeros = number;
    }
    for (std::size_t at = zeros.first; at <= zeros.last; ++at) {
      for (const auto* list : {&model_.live.reads[at], &model_.live.writes[at]}) {
        if (is_zeros(program_, at)) continue;
        for (const auto& [reg, range] : *list) pin_if_of(range, number);
      }
    }
    for (const int range : begun) {
      extend(model_.live.ranges[static_cast<std::size_t>(range)], zeros.first, zeros.last);
    }
    model_.zeros.push_back(std::move(zeros));
  }
  void pin_if_of(int range, int zeros) {
    RemapRange& one = model_.ranges[static_cast<std::size_t>(range)];
    if (one.zeros == zeros) one.is_single = false;
  }

  void pin(const RegisterUse& use, std::size_t at, bool is_write) {
    for (int reg = use.first; reg < use.first + use.count; ++reg) {
      const int range = is_write ? model_.live.written_at(at, reg) : model_.live.read_at(at, reg);
      if (range != kNoRange) model_.ranges[static_cast<std::size_t>(range)].is_single = false;
    }
  }

  // Adds the fields of an instruction. Ranges in tuples keep their registers, and so do ranges that
  // no field names or that a field both reads and writes.
  void add_fields(std::size_t at) {
    const Operation& operation = program_.operations[at];
    model_.fields[at] = register_fields(program_.code[at], program_.sm, operation);
    std::vector<int> reads(operation.reads.size()), writes(operation.writes.size());
    for (const RegisterField& field : model_.fields[at]) {
      const bool is_one = field.reads.size() + field.writes.size() == 1;
      for (const std::size_t use : field.reads) reads[use] += is_one ? 1 : 2;
      for (const std::size_t use : field.writes) writes[use] += is_one ? 1 : 2;
    }
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const RegisterUse& use = operation.reads[i];
      if (use.file == RegisterFile::kGeneral && (use.count > 1 || reads[i] != 1))
        pin(use, at, false);
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const RegisterUse& use = operation.writes[i];
      if (use.file == RegisterFile::kGeneral && (use.count > 1 || writes[i] != 1))
        pin(use, at, true);
    }
  }

  const Program& program_;
  RemapModel model_;
};

}  // namespace

RemapModel remap_model(const Program& program) { return Builder(program).run(); }

}  // namespace tessera::sass
