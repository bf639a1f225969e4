#include <fmt/format.h>

#include <algorithm>

#include "sass/report/report.h"

namespace tessera::sass {
namespace {

// Returns the sources that conflict, by bank: "R4 R6 in bank 0, R9 R11 in bank 1".
std::string banks_text(const Clash& clash, BankModel model) {
  std::string text;
  for (int bank = 0; bank < 4; ++bank) {
    std::string names;
    for (const int reg : clash.registers) {
      if (bank_of(reg, model) == bank) names += fmt::format("R{} ", reg);
    }
    if (names.empty()) continue;
    text += fmt::format("{}{}in bank {}", text.empty() ? "" : ", ", names, bank);
  }
  return text;
}

}  // namespace

std::string clash_list(const KernelReport& kernel, BankModel model) {
  const LoopReport* const loop = kernel.main_loop();
  if (!loop) return kernel.name + ": no loop.\n";
  std::vector<Operation> body;
  for (const std::size_t member : loop->members) body.push_back(kernel.operations[member]);
  const std::vector<Clash> clashes = clashes_of_loop(body, model);
  const auto hidden = std::ranges::count_if(clashes, &Clash::is_hidden);
  std::string text = fmt::format(
      "{}, sm_{}, loop {:#x}-{:#x}: {} of {} FFMAs clash by the rule {}, {} of them hidden by the "
      "reuse cache\n",
      kernel.name, kernel.sm, loop->begin, loop->end, clashes.size(), loop->mix[Kind::kFfma],
      name_of(model), hidden);
  for (const Clash& clash : clashes) {
    text += fmt::format("{:#07x}  {:<44} {}{}\n", loop->members[clash.at] * kInstructionBytes,
                        body[clash.at].text, banks_text(clash, model),
                        clash.is_hidden ? " (hidden)" : "");
  }
  return text;
}

}  // namespace tessera::sass
