#include "sass/model/banks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sass/model/reuse.h"

namespace tessera::sass {
namespace {

// Returns how many sources can be read from one bank at once.
int limit_of(BankModel model) { return model == BankModel::kVolta2 ? 2 : 1; }

// Returns the registers, each once, of all banks that must deliver more registers than they can.
std::vector<int> clashing(std::vector<int> registers, BankModel model) {
  std::ranges::sort(registers);
  registers.erase(std::unique(registers.begin(), registers.end()), registers.end());
  std::array<int, 4> of_bank = {};
  for (const int reg : registers) ++of_bank[bank_of(reg, model)];
  std::erase_if(registers,
                [&](int reg) { return of_bank[bank_of(reg, model)] <= limit_of(model); });
  return registers;
}

// The registers that the reuse cache keeps, by operand slot. Since Volta a slot keeps one register
// of each bank.
class Kept {
 public:
  explicit Kept(BankModel model) : model_(model) {
    for (auto& slots : registers_) slots.fill(-1);
  }
  bool has(int reg, int slot) const { return registers_[place(reg)][slot] == reg; }
  // HW: instructions without a fixed latency read through other ports (ports.h).
  void update(const Operation& operation) {
    if (operation.timing != Timing::kFixed) return;
    for (const RegisterUse& use : operation.reads) {
      if (use.file != RegisterFile::kGeneral || use.operand < 0 || use.operand >= kSlots) continue;
      const bool keeps = (operation.control.reuse >> use.operand & 1) != 0;
      for (int reg = use.first; reg < use.first + use.count; ++reg) {
        registers_[place(reg)][use.operand] = keeps ? reg : -1;
      }
    }
  }

 private:
  int place(int reg) const {
    return model_ == BankModel::kVolta2 || model_ == BankModel::kCrowded2 ? reg % 2 : 0;
  }

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
    case BankModel::kCrowded2:
      return "crowded2";
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
    case BankModel::kCrowded2:
      return reg % 2;
  }
  return 0;
}

namespace {

std::vector<Clash> clashes_after(Kept& kept, std::span<const Operation> code, BankModel model) {
  std::vector<Clash> found;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at].name == "FFMA") {
      std::vector<int> all, fresh;
      for (const RegisterUse& use : code[at].reads) {
        if (use.file != RegisterFile::kGeneral || use.operand < 0) continue;
        // A register that is named twice is read once.
        const bool is_new = std::ranges::find(all, use.first) == all.end();
        all.push_back(use.first);
        if (is_new && !kept.has(use.first, use.operand)) fresh.push_back(use.first);
      }
      const std::vector<int> registers = clashing(all, model);
      if (!registers.empty()) found.push_back({at, registers, clashing(fresh, model).empty()});
    }
    kept.update(code[at]);
  }
  return found;
}

BankClashes counted(std::span<const Operation> code, const std::vector<Clash>& clashes) {
  BankClashes counts;
  counts.ffmas = static_cast<int>(std::ranges::count(code, "FFMA", &Operation::name));
  for (const Clash& clash : clashes) {
    ++counts.clashes;
    counts.hidden += clash.is_hidden;
  }
  return counts;
}

}  // namespace

std::vector<Clash> clashes_of(std::span<const Operation> code, BankModel model) {
  Kept kept(model);
  return clashes_after(kept, code, model);
}

std::vector<Clash> clashes_of_loop(std::span<const Operation> body, BankModel model) {
  Kept kept(model);
  clashes_after(kept, body, model);
  return clashes_after(kept, body, model);
}

BankClashes bank_clashes(std::span<const Operation> code, BankModel model) {
  return counted(code, clashes_of(code, model));
}

BankClashes bank_clashes_of_loop(std::span<const Operation> body, BankModel model) {
  return counted(body, clashes_of_loop(body, model));
}

// HW: an FFMA occupies its pipe for two clocks on sm_70, 75 and 80, so two sources of one bank can
// be read one after the other.
BankModel rule_of(int sm) { return sm <= 80 ? BankModel::kVolta2 : BankModel::kCrowded2; }

}  // namespace tessera::sass
