#include "sass/model/register_fields.h"

namespace tessera::sass {
namespace {

// Returns the indices of the register uses that differ in `changed`.
std::vector<std::size_t> different(const std::vector<RegisterUse>& uses,
                                   const std::vector<RegisterUse>& changed) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < uses.size() && i < changed.size(); ++i) {
    const bool is_general = uses[i].file == RegisterFile::kGeneral;
    if (is_general && uses[i].first != changed[i].first) places.push_back(i);
  }
  return places;
}

}  // namespace

Instruction with_register(Instruction instruction, int first, int reg) {
  std::uint64_t& half = first < 64 ? instruction.low : instruction.high;
  const int shift = first % 64;
  half = (half & ~(std::uint64_t{0xFF} << shift)) | static_cast<std::uint64_t>(reg) << shift;
  return instruction;
}

std::vector<RegisterField> register_fields(const Instruction& instruction, int sm) {
  return register_fields(instruction, sm, decode(instruction, 0, sm));
}

std::vector<RegisterField> register_fields(const Instruction& instruction, int sm,
                                           const Operation& operation) {
  std::vector<RegisterField> fields;
  for (const int first : kRegisterFields) {
    const auto reg = static_cast<int>(instruction.bits(first, 8));
    if (reg == kNoRegister) continue;
    // Flips a bit of the number so that tuples of up to 8 stay aligned and RZ does not appear.
    const int other = (reg ^ 8) == kNoRegister ? reg ^ 16 : reg ^ 8;
    const Operation changed = decode(with_register(instruction, first, other), 0, sm);
    RegisterField field{first, different(operation.reads, changed.reads),
                        different(operation.writes, changed.writes)};
    if (!field.reads.empty() || !field.writes.empty()) fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace tessera::sass
