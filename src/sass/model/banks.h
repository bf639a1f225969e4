// The classic rules for bank conflicts between the register operands of one instruction: only the
// bank of each source matters, not when it is read. The port model (ports.h) says more, but tables
// of other generations use these rules.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sass/decode/operation.h"

namespace tessera::sass {

enum class BankModel {
  kKepler4,   // 4 banks: (r & 1) + 2 * ((r >> 2) & 1); two different sources of one bank clash
  kMaxwell4,  // 4 banks, also Pascal's: r % 4; two different sources of one bank clash
  kVolta2,    // 2 banks, since Volta: r % 2; three different sources of one bank clash
  kCrowded2  // the same banks where an FFMA takes one clock: two clash, as an H200 charges for them
};

// "kepler4", "maxwell4", "volta2", "crowded2".
std::string_view name_of(BankModel model);
int bank_of(int reg, BankModel model);

// FFMAs whose sources clash, and how many of these no longer clash once the reuse cache has
// supplied its registers.
struct BankClashes {
  int ffmas = 0, clashes = 0, hidden = 0;
};
BankClashes bank_clashes(std::span<const Operation> code, BankModel model);
// The same for a loop, whose reuse cache holds what the previous iteration left. By the rule of the
// card (rule_of), the number that is not hidden equals the number that the port model calls
// crowded.
BankClashes bank_clashes_of_loop(std::span<const Operation> body, BankModel model);

// An FFMA whose sources clash.
struct Clash {
  std::size_t at = 0;          // its index in the code
  std::vector<int> registers;  // its sources in banks that more than one of them needs at a time
  bool is_hidden = false;      // the reuse cache hands out enough of them
};
std::vector<Clash> clashes_of(std::span<const Operation> code, BankModel model);
std::vector<Clash> clashes_of_loop(std::span<const Operation> body, BankModel model);
// The rule that costs time on this architecture: kVolta2 or kCrowded2.
BankModel rule_of(int sm);

}  // namespace tessera::sass
