#include "sass/rewrite/remap_kernel.h"

#include <algorithm>
#include <array>
#include <set>

#include "sass/model/hazards.h"
#include "sass/rewrite/main_loops.h"
#include "sass/rewrite/remap_search.h"

namespace tessera::sass {
namespace {

constexpr int kRemapRounds = 40;

// The register that the reuse cache holds for each operand slot and bank.
class Kept {
 public:
  // Whether the reuse cache serves this read. Also updates the cache.
  bool read(int slot, int bank, int range, bool keeps) {
    int& held = held_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(bank)];
    const bool hit = held == range;
    held = keeps ? range : kNoRange;
    return hit;
  }

 private:
  std::array<std::array<int, 2>, kOperandSlots> held_ = {
      {{kNoRange, kNoRange}, {kNoRange, kNoRange}, {kNoRange, kNoRange}}};
};

// Adds the FFMAs of a loop in its steady state, as they are in its second iteration.
void add_ffmas(const Program& program, const RemapModel& model, const Loop& loop,
               std::vector<FreshReads>& ffmas) {
  const PortRules rules = rules_of(program.sm);
  Kept kept;
  for (const bool counts : {false, true}) {
    for (const std::size_t at : loop.members) {
      const PortAccess access = port_access(program.operations[at], rules);
      FreshReads fresh;
      for (const PortRead& read : access.reads) {
        const int range = model.live.read_at(at, read.reg);
        if (!kept.read(read.slot, read.reg % 2, range, read.keeps)) fresh.ranges.push_back(range);
      }
      if (counts && access.is_ffma) ffmas.push_back(fresh);
    }
  }
}

std::vector<FreshReads> ffmas_of(const Program& program, const RemapModel& model,
                                 const std::vector<Loop>& loops) {
  std::vector<FreshReads> ffmas;
  for (const Loop* loop : main_loops(loops)) add_ffmas(program, model, *loop, ffmas);
  return ffmas;
}

class Remapper {
 public:
  Remapper(const Program& program, const std::vector<Loop>& loops, const RemapOptions& options)
      : program_(program),
        model_(remap_model(program)),
        meets_(model_.live),
        ffmas_(ffmas_of(program, model_, loops)),
        stays_(model_.ranges.size(), false) {
    search_.steps = options.steps;
    search_.seed = options.seed;
    search_.counts_pairs = cycles_of_ffma(program.sm) == 1;
  }

  RemappedKernel run() {
    for (int round = 0; round < kRemapRounds; ++round) {
      const std::vector<int> registers = find_registers(model_, meets_, ffmas_, stays_, search_);
      const Program after = renamed_program(registers);
      const std::vector<Hazard> hazards = find_hazards(after);
      if (hazards.empty()) return result(after, registers);
      for (const Hazard& hazard : hazards) avoid(hazard, registers);
    }
    return {{}, {}, model_.ranges.size(), 0};
  }

 private:
  bool has_moved(int range, const std::vector<int>& registers) const {
    return registers[static_cast<std::size_t>(range)] !=
           model_.live.ranges[static_cast<std::size_t>(range)].reg;
  }

  // Makes the value that the first instruction of the hazard reads or writes keep its register for
  // longer: until a little after the second instruction.
  void avoid(const Hazard& hazard, const std::vector<int>& registers) {
    constexpr std::size_t kFurther = 16;
    bool is_found = false;
    for (const auto* list : {&model_.live.reads[hazard.by], &model_.live.writes[hazard.by]}) {
      for (const auto& [old_reg, early] : *list) {
        for (const auto& [reg, late] : model_.live.writes[hazard.at]) {
          const int here = registers[static_cast<std::size_t>(early)];
          if (early == late || here != registers[static_cast<std::size_t>(late)]) continue;
          const std::size_t last = std::min(hazard.at + kFurther, program_.code.size() - 1);
          is_found = is_found || hazard.by < hazard.at;
          for (std::size_t at = hazard.by; at <= last; ++at) {
            model_.live.ranges[static_cast<std::size_t>(early)].set_live_after(at);
          }
          meets_.update(model_.live, early);
        }
      }
    }
    if (is_found) return;
    for (const std::size_t at : {hazard.at, hazard.by}) pin_moved(at, registers);
  }

  void pin_moved(std::size_t at, const std::vector<int>& registers) {
    for (const auto* list : {&model_.live.reads[at], &model_.live.writes[at]}) {
      for (const auto& [reg, range] : *list) {
        if (has_moved(range, registers)) stays_[static_cast<std::size_t>(range)] = true;
      }
    }
  }

  Program renamed_program(const std::vector<int>& registers) const {
    Program after = program_;
    for (std::size_t at = 0; at < after.code.size(); ++at) {
      for (const RegisterField& field : model_.fields[at]) {
        const auto reg = static_cast<int>(program_.code[at].bits(field.first, 8));
        const int range =
            field.reads.empty() ? model_.live.written_at(at, reg) : model_.live.read_at(at, reg);
        if (range == kNoRange) continue;
        after.code[at] =
            with_register(after.code[at], field.first, registers[static_cast<std::size_t>(range)]);
      }
      after.operations[at] = decode(after.code[at], at * kInstructionBytes, after.sm);
    }
    return after;
  }

  RemappedKernel result(const Program& after, const std::vector<int>& registers) const {
    RemappedKernel result;
    result.ranges = model_.ranges.size();
    for (std::size_t range = 0; range < registers.size(); ++range) {
      result.moved += has_moved(static_cast<int>(range), registers) ? 1 : 0;
    }
    if (result.moved == 0) return result;
    result.code = after.code;
    for (const LiveRanges::Named& named : model_.live.at_entry) {
      BlockRenaming& block = result.renaming.emplace_back();
      for (const auto& [reg, range] : named) {
        block.emplace_back(reg, registers[static_cast<std::size_t>(range)]);
      }
    }
    return result;
  }

  const Program& program_;
  RemapModel model_;
  Meets meets_;
  std::vector<FreshReads> ffmas_;
  std::vector<bool> stays_;
  RemapSearch search_;
};

}  // namespace

RemappedKernel remap(const Program& program, const std::vector<Loop>& loops,
                     const RemapOptions& options) {
  return Remapper(program, loops, options).run();
}

}  // namespace tessera::sass
