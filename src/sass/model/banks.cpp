#include "sass/model/banks.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tessera::sass {
namespace {

constexpr int kSlots = 3;

// Sources of one bank that can be read at once.
int limit_of(BankModel model) { return model == BankModel::kVolta2 ? 2 : 1; }

bool clash(std::vector<int> registers, BankModel model) {
  std::ranges::sort(registers);
  registers.erase(std::unique(registers.begin(), registers.end()), registers.end());
  std::array<int, 4> of_bank = {};
  for (const int reg : registers) ++of_bank[bank_of(reg, model)];
  return std::ranges::any_of(of_bank, [&](int count) { return count > limit_of(model); });
}

// What the operand slots keep. Since Volta a slot keeps one register of each bank.
class Kept {
 public:
  explicit Kept(BankModel model) : model_(model) {
    for (auto& slots : registers_) slots.fill(-1);
  }
  bool has(int reg, int slot) const { return registers_[place(reg)][slot] == reg; }
  void update(const Operation& operation) {
    for (const RegisterUse& use : operation.reads) {
      if (use.file != RegisterFile::kGeneral || use.operand < 0 || use.operand >= kSlots) continue;
      const bool keeps = (operation.control.reuse >> use.operand & 1) != 0;
      for (int reg = use.first; reg < use.first + use.count; ++reg) {
        registers_[place(reg)][use.operand] = keeps ? reg : -1;
      }
    }
  }

 private:
  int place(int reg) const { return model_ == BankModel::kVolta2 ? reg % 2 : 0; }

  BankModel model_;
  std::array<std::array<int, kSlots>, 2> registers_;
};

}  // namespace

std::string_view name_of(BankModel model) {
  switch (model) {
    case BankModel::kKepler4:
      return "kepler4";
    case BankModel::kMaxwell4:
      return "maxwell4";
    case BankModel::kVolta2:
      return "volta2";
  }
  return "";
}

int bank_of(int reg, BankModel model) {
  switch (model) {
    case BankModel::kKepler4:
      return (reg & 1) + 2 * (reg >> 2 & 1);
    case BankModel::kMaxwell4:
      return reg % 4;
    case BankModel::kVolta2:
      return reg % 2;
  }
  return 0;
}

BankClashes bank_clashes(std::span<const Operation> code, BankModel model) {
  BankClashes found;
  Kept kept(model);
  for (const Operation& operation : code) {
    if (operation.name == "FFMA") {
      std::vector<int> all, fresh;
      for (const RegisterUse& use : operation.reads) {
        if (use.file != RegisterFile::kGeneral || use.operand < 0) continue;
        all.push_back(use.first);
        if (!kept.has(use.first, use.operand)) fresh.push_back(use.first);
      }
      ++found.ffmas;
      if (clash(all, model)) {
        ++found.clashes;
        found.hidden += !clash(fresh, model);
      }
    }
    kept.update(operation);
  }
  return found;
}

}  // namespace tessera::sass
