#include "sass/model/renaming.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "sass/model/register_fields.h"

namespace tessera::sass {
namespace {

using Use = std::tuple<bool, int, int>;  // written or read, first register, number of registers
std::vector<Use> general_uses(const Operation& operation) {
  std::vector<Use> uses;
  for (const RegisterUse& use : operation.reads) {
    if (use.file == RegisterFile::kGeneral) uses.emplace_back(false, use.first, use.count);
  }
  for (const RegisterUse& use : operation.writes) {
    if (use.file == RegisterFile::kGeneral) uses.emplace_back(true, use.first, use.count);
  }
  std::ranges::sort(uses);
  return uses;
}

// Whether the field names a register: if its bits are changed, the decoder names another register.
bool names_a_register(const Instruction& instruction, int sm, int field) {
  const int changed =
      static_cast<int>(instruction.bits(field, 8)) ^ 8;  // tuples of up to 8 stay aligned
  return general_uses(decode(instruction, 0, sm)) !=
         general_uses(decode(with_register(instruction, field, changed), 0, sm));
}

}  // namespace

Renaming no_renaming() {
  Renaming same;
  for (int reg = 0; reg < 256; ++reg) same[reg] = reg;
  return same;
}

Instruction renamed(const Instruction& instruction, int sm, const Renaming& renaming) {
  static const Renaming kSame = no_renaming();
  if (renaming == kSame) return instruction;
  const Operation operation = decode(instruction, 0, sm);
  if (!operation.known) {
    throw std::runtime_error("Registers of " + operation.name + " cannot be renamed: unknown.");
  }
  Instruction result = instruction;
  for (const int field : kRegisterFields) {
    const int reg = static_cast<int>(instruction.bits(field, 8));
    if (reg == kNoRegister || renaming[reg] == reg) continue;
    if (names_a_register(instruction, sm, field)) {
      result = with_register(result, field, renaming[reg]);
    }
  }
  return result;
}

}  // namespace tessera::sass
