#include "sass/rewrite/remap.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "sass/decode/operation.h"
#include "sass/rewrite/encode.h"

namespace tessera::sass {
namespace {

// Where instructions may name a general register: each field has 8 bits.
constexpr std::array kFields = {16, 24, 32, 64};

Instruction with_field(Instruction instruction, int first, std::uint64_t value) {
  std::uint64_t& half = first < 64 ? instruction.low : instruction.high;
  const int shift = first % 64;
  half = (half & ~(std::uint64_t{0xFF} << shift)) | value << shift;
  return instruction;
}

using Use = std::tuple<bool, int, int>;  // written, first register, number of registers
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

// A field names a register if other bits in it make the decoder name another one.
bool names_a_register(const Instruction& instruction, int sm, int field) {
  const auto changed = instruction.bits(field, 8) ^ 8;  // tuples of up to 8 stay aligned
  return general_uses(decode(instruction, 0, sm)) !=
         general_uses(decode(with_field(instruction, field, changed), 0, sm));
}

}  // namespace

Instruction renamed(const Instruction& instruction, int sm, const Renaming& renaming) {
  static const Renaming kSame = no_renaming();
  if (renaming == kSame) return instruction;
  const Operation operation = decode(instruction, 0, sm);
  if (!operation.known) {
    throw std::runtime_error("Registers of " + operation.name + " cannot be renamed: unknown.");
  }
  Instruction result = instruction;
  for (const int field : kFields) {
    const int reg = static_cast<int>(instruction.bits(field, 8));
    if (reg == kZeroRegister || renaming[reg] == reg) continue;
    if (names_a_register(instruction, sm, field)) {
      result = with_field(result, field, static_cast<std::uint64_t>(renaming[reg]));
    }
  }
  return result;
}

}  // namespace tessera::sass
