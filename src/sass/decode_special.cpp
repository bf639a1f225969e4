#include <array>
#include <string>
#include <unordered_map>

#include "sass/decode_operands.h"

namespace tessera::sass {
namespace {

constexpr auto kGeneral = RegisterFile::kGeneral, kUniform = RegisterFile::kUniform;
constexpr auto kPredicate = RegisterFile::kPredicate;
constexpr auto kUniformPredicate = RegisterFile::kUniformPredicate;

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// IMAD serves as move, sum and shift; disassemblers name it after that.
void print_imad_name(Decoding& decoding) {
  constexpr int kZero = 255, kImmediateSecond = 4;
  const int form = decoding.form();
  const int a = register_at(decoding, kGeneral, 24), c = register_at(decoding, kGeneral, 64);
  const int b = register_at(decoding, kGeneral, form == 1 ? 32 : 64);
  const std::uint64_t factor = decoding.bits(32, 32);
  if (decoding.bit(74)) {
    decoding.print(".X");
  } else if (form <= 3 && a == kZero && b == kZero) {
    decoding.print(".MOV");
  } else if (form == kImmediateSecond && factor == 1) {
    decoding.print(".IADD");
  } else if (form == kImmediateSecond && c == kZero && is_power_of_two(factor)) {
    decoding.print(".SHL");
  }
  if (!decoding.bit(73) && !decoding.bit(74)) decoding.print(".U32");
}

// The upper half of a sum has a third operand: the upper half of what is shifted.
void print_lea_high(Decoding& decoding) {
  if (decoding.bit(80) && !decoding.bit(73)) {
    decoding.print(", " + read_register(decoding, kGeneral, 64, 1, 2));
  }
}

void print_ulea_high(Decoding& decoding) {
  if (decoding.bit(80) && !decoding.bit(73)) {
    decoding.print(", " + read_register(decoding, kUniform, 64, 1, 2));
  }
}

void print_lanes(Decoding& decoding) {
  const std::uint64_t mask = decoding.bits(72, 4);
  if (mask != 0xF) decoding.print(", " + hex(mask));
}

void print_plop_lut(Decoding& decoding) {
  decoding.print(hex(decoding.bits(72, 5) << 3 | decoding.bits(64, 3)));
}

void print_plop_third(Decoding& decoding) {
  const auto file = decoding.bit(67) ? kUniformPredicate : kPredicate;
  decoding.print(read_predicate(decoding, file, 68, 71));
}

void print_all_predicates(Decoding& decoding) {
  decoding.operation.reads.push_back({kPredicate, 0, 7, -1});
  decoding.print("PR");
}

void print_special_register(Decoding& decoding) {
  static const std::unordered_map<std::uint64_t, const char*> names = {
      {0x00, "SR_LANEID"},  {0x20, "SR_TID"},      {0x21, "SR_TID.X"},   {0x22, "SR_TID.Y"},
      {0x23, "SR_TID.Z"},   {0x25, "SR_CTAID.X"},  {0x26, "SR_CTAID.Y"}, {0x27, "SR_CTAID.Z"},
      {0x28, "SR_NTID"},    {0x2f, "SR_SWINHI"},   {0x38, "SR_EQMASK"},  {0x39, "SR_LTMASK"},
      {0x3a, "SR_LEMASK"},  {0x3b, "SR_GTMASK"},   {0x3c, "SR_GEMASK"},  {0x50, "SR_CLOCKLO"},
      {0x51, "SR_CLOCKHI"}, {0x88, "SR_CgaCtaId"}, {0xff, "SRZ"}};
  const std::uint64_t number = decoding.bits(72, 8);
  const auto found = names.find(number);
  decoding.print(found == names.end() ? "SR" + std::to_string(number) : found->second);
}

void print_vote_lanes(Decoding& decoding) {
  const std::string text = written_register(decoding, kUniform, 16, 1);
  if (text != "URZ") decoding.print(text + ", ");
}

void print_convergence(Decoding& decoding, int place) {
  decoding.print("B" + std::to_string(decoding.bits(place, 4)));
}

// HW: the distance counts units of 4 bytes, signed, in bits 34-81; from sm_90 on its lowest 8 bits
// stand in bits 16-23.
void print_target(Decoding& decoding) {
  std::int64_t distance = signed_bits(decoding, 34, 48);
  if (decoding.sm >= 90) {
    distance = distance * 256 + static_cast<std::int64_t>(decoding.bits(16, 8));
  }
  const auto target = static_cast<std::int64_t>(decoding.offset + kInstructionBytes) + 4 * distance;
  decoding.print(signed_hex(target));
}

// BSSY on sm_90 keeps its distance in bytes where immediates stand.
void print_join(Decoding& decoding) {
  const auto target = static_cast<std::int64_t>(decoding.offset + kInstructionBytes) +
                      signed_bits(decoding, 32, 32);
  decoding.print(signed_hex(target));
}

void print_branch_condition(Decoding& decoding) {
  if (decoding.bits(87, 4) == 7) return;
  decoding.print(read_predicate(decoding, kPredicate, 87, 90) + ", ");
}

void print_barrier(Decoding& decoding) {
  const int form = decoding.form();
  const bool count_in_register = form == 1 || form == 4, id_in_register = form == 1 || form == 2;
  decoding.print(id_in_register ? read_register(decoding, kGeneral, 32, 1, 1)
                                : hex(decoding.bits(54, 4)));
  if (count_in_register) {
    decoding.print(", " + read_register(decoding, kGeneral, 64, 1, 2));
  } else if (const std::uint64_t count = decoding.bits(42, 12)) {
    decoding.print(", " + hex(count));
  }
}

void print_depbar(Decoding& decoding) {
  const std::uint64_t mask = decoding.bits(32, 6);
  const bool counts = decoding.bit(47);
  if (counts) {
    decoding.print(".LE SB" + std::to_string(decoding.bits(44, 3)) + ", " +
                   hex(decoding.bits(38, 6)));
    if (mask != 0) decoding.print(",");
  }
  if (mask == 0) return;
  std::string list;
  for (int i = 5; i >= 0; --i) {
    if (mask >> i & 1) list += (list.empty() ? "" : ",") + std::to_string(i);
  }
  decoding.print(" {" + list + "}");
}

// Threads that must meet: all of the warp, or those of a mask.
void print_meeting(Decoding& decoding) {
  const std::uint64_t mask = decoding.bits(32, 32);
  decoding.print(mask == 0 ? ".ALL" : " " + hex(mask));
}

void print_copy_condition(Decoding& decoding) {
  if (decoding.bits(87, 4) != 7) {
    decoding.print(", " + read_predicate(decoding, kPredicate, 87, 90));
  }
}

// [R2+URZ+0x400], or [UR4+0x400] where no register of the thread takes part.
void print_sync_address(Decoding& decoding) {
  std::string text;
  if (register_at(decoding, kGeneral, 24) != 255) {
    text = read_register(decoding, kGeneral, 24, 1, 0) + "+";
  }
  text += read_register(decoding, kUniform, 64, 1, -1);
  const std::int64_t offset = signed_bits(decoding, 40, 24);
  decoding.print("[" + text + (offset == 0 ? "" : "+" + signed_hex(offset)) + "]");
}

void print_sync_warp_address(Decoding& decoding) {
  const std::string text = read_register(decoding, kUniform, 24, 1, -1);
  const std::int64_t offset = signed_bits(decoding, 40, 24);
  decoding.print("[" + text + (offset == 0 ? "" : "+" + signed_hex(offset)) + "]");
}

// Registers of a double a lane holds of A (m x k), B (k x n) and C (m x n), by the shape's number.
struct DmmaShape {
  const char* name;
  int a, b, c;
};
constexpr std::array<DmmaShape, 4> kDmmaShapes = {
    {{".8x8x4", 2, 2, 4}, {".16x8x4", 4, 2, 8}, {".16x8x8", 8, 4, 8}, {".16x8x16", 16, 8, 8}}};

void print_dmma_shape(Decoding& decoding) {
  if (decoding.sm < 90) return decoding.print(".884");
  decoding.print(kDmmaShapes[decoding.bits(76, 2)].name);
}

void print_dmma(Decoding& decoding) {
  const DmmaShape& shape = kDmmaShapes[decoding.bits(76, 2)];
  decoding.print(written_register(decoding, kGeneral, 16, shape.c) + ", ");
  decoding.print(read_register(decoding, kGeneral, 24, shape.a, 0) + ", ");
  decoding.print(read_register(decoding, kGeneral, 32, shape.b, 1) + ", ");
  decoding.print(read_register(decoding, kGeneral, 64, shape.c, 2));
}

void print_hmma_shape(Decoding& decoding) { decoding.print(".16816.F32.BF16"); }

// The second matrix has 8 columns more than eight times bits 53-57.
std::uint64_t columns_of_hgmma(const Decoding& decoding) { return 8 * (decoding.bits(53, 5) + 1); }

void print_hgmma_shape(Decoding& decoding) {
  decoding.print(".64x" + std::to_string(columns_of_hgmma(decoding)) + "x16.F32.BF16");
}

void print_accumulators(Decoding& decoding) {
  const int count = static_cast<int>(columns_of_hgmma(decoding) / 2);
  decoding.print(written_register(decoding, kGeneral, 16, count));
}

// Whether the product is added to what was there; its number is kept inverted, so that 0 says yes.
void print_accumulate(Decoding& decoding) {
  const int number = 7 ^ static_cast<int>(decoding.bits(87, 3));
  const bool negated = decoding.bit(90);
  if (number == 7 && !negated) return;
  if (number != 7) decoding.operation.reads.push_back({kUniformPredicate, number, 1, -1});
  decoding.print(std::string(", ") + (negated ? "!" : "") +
                 predicate_name(kUniformPredicate, number));
}

void print_more_of_hgmma(Decoding& decoding) {
  const int count = static_cast<int>(columns_of_hgmma(decoding) / 2);
  decoding.print(read_register(decoding, kGeneral, 64, count, 2));
  print_accumulate(decoding);
  if (decoding.bits(84, 3) != 7) decoding.print(", gsb" + std::to_string(decoding.bits(84, 3)));
}

void print_warpgroup(Decoding& decoding) {
  if (!decoding.bit(80)) return decoding.print(".ARRIVE");
  decoding.print(".DEPBAR.LE gsb0, " + hex(decoding.bits(72, 3)));
}

void print_maximum_registers(Decoding& decoding) {
  const bool tries = decoding.bits(72, 2) == 2;
  decoding.print(tries ? ".TRY_ALLOC.CTAPOOL " : ".DEALLOC.CTAPOOL ");
  if (tries) decoding.print(written_predicate(decoding, kUniformPredicate, 81) + ", ");
  decoding.print(hex(decoding.bits(32, 8)));
}

// Integers of a conversion: by bytes at `size`, signed where bit `sign` says so.
void print_integer(Decoding& decoding, int size, int sign) {
  static constexpr std::array<const char*, 4> kBits = {"8", "16", "32", "64"};
  const bool is_signed = decoding.bit(sign);
  const std::uint64_t number = decoding.bits(size, 2);
  if (is_signed && number == 2) return;
  decoding.print(std::string(is_signed ? ".S" : ".U") + kBits[number]);
}

using Printer = void (*)(Decoding&);

const std::unordered_map<std::string_view, Printer>& printers() {
  static const std::unordered_map<std::string_view, Printer> table = {
      {".imad", print_imad_name},
      {"lea_high", print_lea_high},
      {"ulea_high", print_ulea_high},
      {".int", [](Decoding& decoding) { print_integer(decoding, 75, 72); }},
      {".from_int", [](Decoding& decoding) { print_integer(decoding, 84, 74); }},
      {"lanes", print_lanes},
      {"plop_lut", print_plop_lut},
      {"plop_third", print_plop_third},
      {"all_predicates", print_all_predicates},
      {"special_register", print_special_register},
      {"meeting", print_meeting},
      {"vote_lanes", print_vote_lanes},
      {"convergence", [](Decoding& decoding) { print_convergence(decoding, 16); }},
      {"convergence24", [](Decoding& decoding) { print_convergence(decoding, 24); }},
      {"target", print_target},
      {"join", print_join},
      {"branch_condition", print_branch_condition},
      {"barrier", print_barrier},
      {"depbar", print_depbar},
      {"copy_condition", print_copy_condition},
      {"sync_address", print_sync_address},
      {"sync_warp_address", print_sync_warp_address},
      {".dmma", print_dmma_shape},
      {"dmma", print_dmma},
      {".hmma", print_hmma_shape},
      {".hgmma", print_hgmma_shape},
      {"accumulators", print_accumulators},
      {"more", print_more_of_hgmma},
      {"warpgroup", print_warpgroup},
      {"maximum_registers", print_maximum_registers},
  };
  return table;
}

// "hex5@75": five bits from bit 75, as a number.
bool print_number(Decoding& decoding, std::string_view word) {
  const std::size_t at = word.find('@');
  if (!word.starts_with("hex") || at == std::string_view::npos) return false;
  const int count = std::stoi(std::string(word.substr(3, at - 3)));
  decoding.print(hex(decoding.bits(std::stoi(std::string(word.substr(at + 1))), count)));
  return true;
}

}  // namespace

bool print_special_piece(Decoding& decoding, std::string_view word, std::string_view) {
  const auto found = printers().find(word);
  if (found == printers().end()) return print_number(decoding, word);
  found->second(decoding);
  return true;
}

}  // namespace tessera::sass
