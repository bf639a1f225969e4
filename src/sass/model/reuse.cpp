#include "sass/model/reuse.h"

#include <array>

namespace tessera::sass {
namespace {

bool is_slot(const RegisterUse& use) {
  return use.file == RegisterFile::kGeneral && use.operand >= 0 && use.operand < kSlots;
}

bool writes(const Operation& operation, int reg) {
  for (const RegisterUse& use : operation.writes) {
    if (use.file == RegisterFile::kGeneral && reg >= use.first && reg < use.first + use.count) {
      return true;
    }
  }
  return false;
}

// One value per bank and operand slot.
template <class Value>
class Slots {
 public:
  Value& at(int reg, int slot) { return values_[reg % kBanks][slot]; }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }

 private:
  std::array<std::array<Value, kSlots>, kBanks> values_ = {};
};

struct Entry {
  int reg = -1;
  bool stale = false;
};

unsigned slots_read(const Operation& operation) {
  unsigned slots = 0;
  for (const RegisterUse& use : operation.reads) {
    if (is_slot(use)) slots |= 1u << use.operand;
  }
  return slots;
}

}  // namespace

std::string illegal_control(const Operation& operation) {
  const Control& control = operation.control;
  constexpr int kLongestWithoutYield = 11;
  if (control.stall < 0 || control.stall > 15) return "a stall is 0 to 15 cycles";
  if (control.yields) {
    // HW: a DEPBAR with a count has a tag in the bits of the reuse flags (ptxas 13.0).
    const bool has_flags = control.batch != 0 && operation.name != "DEPBAR";
    return control.reuse == 0 && !has_flags
               ? ""
               : "reuse flags do not exist on an instruction that yields";
  }
  if (control.stall == 0) return "a stall of 0 exists with a yield only";
  if (control.stall > kLongestWithoutYield) return "a stall above 11 exists with a yield only";
  return "";
}

std::vector<ReuseFault> check_reuse(std::span<const Operation> code) {
  std::vector<ReuseFault> faults;
  Slots<Entry> kept;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const unsigned reuse = code[i].control.reuse;
    if ((reuse & ~slots_read(code[i])) != 0 && code[i].timing == Timing::kFixed) {
      faults.push_back({i, "a reuse flag stands on an operand that is no register"});
    }
    for (const RegisterUse& use : code[i].reads) {
      if (!is_slot(use)) continue;
      for (int reg = use.first; reg < use.first + use.count; ++reg) {
        Entry& entry = kept.at(reg, use.operand);
        if (entry.reg == reg && entry.stale) {
          faults.push_back({i, "R" + std::to_string(reg) + " was written after it was kept"});
        }
        entry = {(reuse >> use.operand & 1) != 0 ? reg : -1, false};
      }
    }
    for (auto& slots : kept) {
      for (Entry& entry : slots) entry.stale |= entry.reg >= 0 && writes(code[i], entry.reg);
    }
  }
  return faults;
}

std::vector<unsigned> profitable_reuse(std::span<const Operation> code,
                                       const std::vector<bool>& may_flag) {
  // For each slot, going backwards through the code: the register that its next reader wants, or
  // -1.
  std::vector<unsigned> flags(code.size(), 0);
  Slots<Entry> next;
  for (std::size_t i = code.size(); i-- > 0;) {
    if (code[i].control.yields) next = {};
    for (auto& slots : next) {
      for (Entry& entry : slots) {
        if (entry.reg >= 0 && writes(code[i], entry.reg)) entry = {};
      }
    }
    for (const RegisterUse& use : code[i].reads) {
      if (!is_slot(use) || use.count != 1 || !may_flag[i]) continue;
      if (next.at(use.first, use.operand).reg == use.first) flags[i] |= 1u << use.operand;
    }
    const bool hits = code[i].timing == Timing::kFixed;
    for (const RegisterUse& use : code[i].reads) {
      if (!is_slot(use)) continue;
      for (int reg = use.first; reg < use.first + use.count; ++reg) {
        next.at(reg, use.operand) = {hits ? reg : -1, false};
      }
    }
  }
  return flags;
}

}  // namespace tessera::sass
