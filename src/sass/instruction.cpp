#include "sass/instruction.h"

#include <array>
#include <cstdio>
#include <initializer_list>
#include <string_view>
#include <unordered_map>

namespace tessera::sass {
namespace {

constexpr int kUniform = 0x1000;  // bit 91 in a key
constexpr int u(int code) { return code | kUniform; }

struct Opcode {
  std::string_view name;
  bool has_width = false;
};

struct Row {
  Opcode opcode;
  std::initializer_list<int> keys;
};

// Codes differ by where operands come from: registers, an immediate, a constant, a uniform
// register.
const std::unordered_map<int, Opcode>& opcodes() {
  static const Row kRows[] = {
      {{"FFMA"}, {0x223, 0x423, 0x623, 0x823, 0xa23, u(0xc23), u(0xe23)}},
      {{"FMUL"}, {0x220, 0x420, 0x620, 0x820, 0xa20, u(0xc20), u(0xe20)}},
      {{"FADD"}, {0x221, 0x421, 0x621, 0x821, 0xa21, u(0xc21), u(0xe21)}},
      {{"FSETP"}, {0x20b, 0x40b, 0x60b, 0x80b, 0xa0b, u(0xc0b)}},
      {{"DFMA"}, {0x22b, 0x42b, 0x62b, 0x82b, 0xa2b, u(0xc2b), u(0xe2b)}},
      {{"DMUL"}, {0x228, 0x428, 0x628, 0x828, 0xa28, u(0xc28), u(0xe28)}},
      {{"DADD"}, {0x229, 0x429, 0x629, 0x829, 0xa29, u(0xc29), u(0xe29)}},
      {{"DSETP"}, {0x22a, 0x42a, 0x62a, 0x82a, 0xa2a, u(0xc2a), u(0xe2a)}},
      {{"IMAD"}, {0x224, 0x424, 0x624, 0x824, 0xa24, u(0xc24), u(0xe24)}},
      {{"IMAD.WIDE"}, {0x225, 0x425, 0x625, 0x825, 0xa25, u(0xc25), u(0xe25)}},
      {{"IMAD.HI"}, {0x227, 0x427, 0x627, 0x827, 0xa27, u(0xc27), u(0xe27)}},
      {{"IADD3"}, {0x210, 0x410, 0x610, 0x810, 0xa10, u(0xc10), u(0xe10)}},
      {{"LEA"}, {0x211, 0x411, 0x611, 0x811, 0xa11, u(0xc11), u(0xe11)}},
      {{"LOP3"}, {0x212, 0x412, 0x612, 0x812, 0xa12, u(0xc12), u(0xe12)}},
      {{"SHF"}, {0x219, 0x419, 0x619, 0x819, 0xa19, u(0xc19), u(0xe19)}},
      {{"ISETP"}, {0x20c, 0x40c, 0x60c, 0x80c, 0xa0c, u(0xc0c), u(0xe0c)}},
      {{"SEL"}, {0x207, 0x407, 0x607, 0x807, 0xa07, u(0xc07), u(0xe07)}},
      {{"MOV"}, {0x202, 0x402, 0x602, 0x802, 0xa02, u(0xc02)}},
      {{"PLOP3"}, {0x81c}},
      {{"S2R"}, {0x919}},
      {{"S2UR"}, {0x9c3}},
      {{"CS2R"}, {0x805}},
      {{"LDC"}, {0xb82}},
      {{"ULDC"}, {0xab9}},
      {{"LDS", true}, {0x984, u(0x984)}},
      {{"STS", true}, {0x388, u(0x988)}},
      {{"LDG", true}, {0x381, 0x981, u(0x981)}},
      {{"STG", true}, {0x386, 0x986, u(0x986)}},
      {{"LD", true}, {0x980, u(0x980)}},
      {{"ST", true}, {0x385, u(0x985)}},
      {{"LDL", true}, {0x983, u(0x983)}},
      {{"STL", true}, {0x387, u(0x987)}},
      {{"LDGSTS", true}, {0xfae, u(0xfae)}},
      {{"LDSM"}, {0x83b, u(0x83b)}},
      {{"STSM"}, {0x844, u(0x844)}},
      {{"BAR"}, {0xb1d}},
      {{"HMMA"}, {0x23c}},
      {{"IMMA"}, {0x237}},
      {{"DMMA"}, {0x23f}},
      {{"HGMMA"}, {u(0x9f0), u(0xdf0)}},
      {{"BRA"}, {0x947}},
      {{"BSSY"}, {0x945}},
      {{"BSYNC"}, {0x941}},
      {{"BREAK"}, {0x942}},
      {{"CALL"}, {0x944}},
      {{"RET"}, {0x950}},
      {{"WARPSYNC"}, {0x948}},
      {{"EXIT"}, {0x94d}},
      {{"NOP"}, {0x918}}};
  static const auto table = [] {
    std::unordered_map<int, Opcode> by_key;
    for (const Row& row : kRows) {
      for (const int key : row.keys) by_key.emplace(key, row.opcode);
    }
    return by_key;
  }();
  return table;
}

std::string width_suffix(const Instruction& instruction) {
  static constexpr std::array<const char*, 8> kWidths = {".8",  ".8",  ".16",  ".16",
                                                         ".32", ".64", ".128", ".?"};
  return kWidths[instruction.bits(73, 3)];
}

}  // namespace

std::uint64_t Instruction::bits(int first, int count) const {
  std::uint64_t value = 0;
  if (first >= 64) {
    value = high >> (first - 64);
  } else {
    value = low >> first;
    if (first > 0) value |= high << (64 - first);
  }
  return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
}

std::string name_of(const Instruction& instruction) {
  const auto found = opcodes().find(instruction.key());
  if (found == opcodes().end()) {
    char text[16];
    std::snprintf(text, sizeof text, "op_0x%x", static_cast<unsigned>(instruction.key()));
    return text;
  }
  const Opcode& opcode = found->second;
  return std::string(opcode.name) + (opcode.has_width ? width_suffix(instruction) : "");
}

std::optional<std::int64_t> branch_target(const Instruction& instruction, std::uint64_t offset,
                                          int sm) {
  constexpr int kBranch = 0x947;
  if (instruction.key() != kBranch) return std::nullopt;
  // HW: the distance counts units of 4 bytes, signed, in bits 34-81; from sm_90 on its lowest 8
  // bits stand in bits 16-23. Sign extension by shifting the field to the top of 64 bits and back.
  auto distance = static_cast<std::int64_t>(instruction.bits(34, 48) << 16) >> 16;
  if (sm >= 90) distance = distance * 256 + static_cast<std::int64_t>(instruction.bits(16, 8));
  return static_cast<std::int64_t>(offset + kInstructionBytes) + 4 * distance;
}

}  // namespace tessera::sass
