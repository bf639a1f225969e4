// The classic rules for bank conflicts between the register operands of one instruction. They look
// only at the bank of each source, not at when it is read. The port model (ports.h) is more
// precise, but published tables for other architectures use these rules.
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

// Returns "kepler4", "maxwell4", "volta2" or "crowded2".
std::string_view name_of(BankModel model);
int bank_of(int reg, BankModel model);

// Numbers of FFMAs: all, those whose sources conflict in a bank (`clashes`), and the clashes that
// cost nothing because the reuse cache supplies a register (`hidden`).
struct BankClashes {
  int ffmas = 0, clashes = 0, hidden = 0;
};
BankClashes bank_clashes(std::span<const Operation> code, BankModel model);
// Like bank_clashes, for a loop whose reuse cache holds what the previous iteration left. By the
// rule of the architecture (rule_of), the number of clashes that are not hidden equals the number
// of FFMAs that the port model calls crowded.
BankClashes bank_clashes_of_loop(std::span<const Operation> body, BankModel model);

// An FFMA with several sources in one bank.
struct Clash {
  std::size_t at = 0;          // the index of the FFMA
  std::vector<int> registers;  // the sources in banks that must deliver too many of them at once
  bool is_hidden = false;      // the reuse cache supplies enough of the sources
};
std::vector<Clash> clashes_of(std::span<const Operation> code, BankModel model);
std::vector<Clash> clashes_of_loop(std::span<const Operation> body, BankModel model);
// Returns the model whose conflicts cost time on this architecture: kVolta2 or kCrowded2.
BankModel rule_of(int sm);

}  // namespace tessera::sass
