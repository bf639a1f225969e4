#include <array>
#include <string>
#include <unordered_map>

#include "sass/decode/decode_operands.h"

namespace tessera::sass {
namespace {

using enum RegisterFile;

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// Prints the rest of an IMAD's name. IMAD also serves as move, sum and shift, and disassemblers
// name it after what it does.
void print_imad_name(Decoding& decoding) {
  constexpr int kZero = 255, kImmediateSecond = 4;
  if (!decoding.names_aliases) {
    if (decoding.bit(74)) return decoding.print(".X");
    return decoding.print(decoding.bit(73) ? "" : ".U32");
  }
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
  } else if (form == kImmediateSecond && c == kZero && is_power_of_two(factor) &&
             factor != 0x10000) {
    decoding.print(".SHL");
  }
  if (!decoding.bit(73) && !decoding.bit(74)) decoding.print(".U32");
}

// Prints the third operand of a LEA.HI, which makes the upper half of a sum: the upper half of the
// number that is shifted. If the third operand is an immediate, the second operand is at bit 64.
void print_lea_high(Decoding& decoding) {
  constexpr int kImmediateThird = 2;
  if (!decoding.bit(80) || decoding.bit(73)) return;
  if (decoding.form() == kImmediateThird) return decoding.print(", " + hex(decoding.bits(32, 32)));
  decoding.print(", " + read_register(decoding, kGeneral, 64, 1, 2));
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

// Prints `text`, the name of all predicates. Notes that the instruction reads the predicates that
// the mask in its last operand selects.
void print_predicates(Decoding& decoding, RegisterFile file, const char* text) {
  constexpr int kImmediate = 4;
  // The mask is printed as a separate operand.
  const std::uint64_t mask =
      decoding.form() == kImmediate ? decoding.instruction.bits(32, 7) : 0x7F;
  for (int i = 0; i < 7; ++i) {
    if (mask >> i & 1) decoding.operation.reads.push_back({file, i, 1, -1});
  }
  decoding.print(text);
}

void print_all_predicates(Decoding& decoding) { print_predicates(decoding, kPredicate, "PR"); }

// Like print_predicates, for the opposite direction: the predicates that the mask selects are
// written from the bits of a register.
void print_written_predicates(Decoding& decoding, RegisterFile file, const char* text) {
  constexpr int kImmediate = 4;
  const std::uint64_t mask =
      decoding.form() == kImmediate ? decoding.instruction.bits(32, 7) : 0x7F;
  for (int i = 0; i < 7; ++i) {
    if (mask >> i & 1) decoding.operation.writes.push_back({file, i, 1, -1});
  }
  decoding.print(text);
}

// Prints two written predicates, which disassemblers leave out if both are unused.
void print_both_out(Decoding& decoding) {
  if (decoding.bits(81, 3) == 7) return;
  decoding.print(written_predicate(decoding, kPredicate, 81) + ", ");
  decoding.print(written_predicate(decoding, kPredicate, 84) + ", ");
}

void print_special_register(Decoding& decoding) {
  static const std::unordered_map<std::uint64_t, const char*> names = {
      {0x00, "SR_LANEID"},      {0x20, "SR_TID"},           {0x21, "SR_TID.X"},
      {0x22, "SR_TID.Y"},       {0x23, "SR_TID.Z"},         {0x25, "SR_CTAID.X"},
      {0x26, "SR_CTAID.Y"},     {0x27, "SR_CTAID.Z"},       {0x28, "SR_NTID"},
      {0x02, "SR_VIRTCFG"},     {0x03, "SR_VIRTID"},        {0x37, "SR_LMEMHIOFF"},
      {0x43, "SR_VIRTUALSMID"}, {0x52, "SR_GLOBALTIMERLO"}, {0x2f, "SR_SWINHI"},
      {0x38, "SR_EQMASK"},      {0x39, "SR_LTMASK"},        {0x3a, "SR_LEMASK"},
      {0x3b, "SR_GTMASK"},      {0x3c, "SR_GEMASK"},        {0x50, "SR_CLOCKLO"},
      {0x51, "SR_CLOCKHI"},     {0x88, "SR_CgaCtaId"},      {0xff, "SRZ"}};
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

// Returns the distance of a branch. HW: the field counts units of 4 bytes, signed, in bits 34-81;
// from sm_90 on the field's lowest 8 bits are in bits 16-23.
std::int64_t distance_of(const Decoding& decoding) {
  std::int64_t distance = signed_bits(decoding, 34, 48);
  if (decoding.sm >= 90) {
    distance = distance * 256 + static_cast<std::int64_t>(decoding.bits(16, 8));
  }
  return 4 * distance;
}

void print_from_next(Decoding& decoding, std::int64_t distance) {
  decoding.print(
      signed_hex(static_cast<std::int64_t>(decoding.offset + kInstructionBytes) + distance));
}

void print_target(Decoding& decoding) { print_from_next(decoding, distance_of(decoding)); }

void print_return(Decoding& decoding) {
  const bool is_absolute = decoding.bit(85);
  decoding.print(is_absolute ? ".ABS.NODEC " : ".REL.NODEC ");
  decoding.print(read_register(decoding, kGeneral, 24, 2, 0) + " ");
  if (!is_absolute) return print_target(decoding);
  decoding.print(hex(static_cast<std::uint64_t>(distance_of(decoding))));
}

void print_collective(Decoding& decoding) {
  const bool is_collective = decoding.bit(86);
  decoding.print(is_collective ? ".COLLECTIVE " : " ");
  decoding.print(read_register(decoding, kGeneral, 24, 1, 0));
  if (!is_collective) return;
  decoding.print(", ");
  print_target(decoding);
}

// Prints the target of BSSY, whose distance in bytes is in the field of immediates.
void print_join(Decoding& decoding) { print_from_next(decoding, signed_bits(decoding, 32, 32)); }

void print_branch_condition(Decoding& decoding) {
  if (decoding.bits(87, 4) == 7) return;
  decoding.print(read_predicate(decoding, kPredicate, 87, 90) + ", ");
}

void print_exit_condition(Decoding& decoding) {
  if (decoding.bits(87, 4) == 7) return;
  decoding.print(" " + read_predicate(decoding, kPredicate, 87, 90));
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
  if (decoding.bits(77, 3) == 2) {
    decoding.print(", " + read_predicate(decoding, kPredicate, 87, 90));
  }
}

// Prints the operation of a barrier that also combines a predicate of all threads.
void print_barrier_reduction(Decoding& decoding) {
  static constexpr std::array<const char*, 4> kKinds = {".POPC", ".AND", ".OR", ""};
  if (decoding.bits(77, 3) == 2) decoding.print(kKinds[decoding.bits(74, 2)]);
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

// Prints which threads must meet: all of the warp, or those of a mask.
void print_reconvergence(Decoding& decoding) {
  const std::uint64_t mask = decoding.bits(32, 32);
  decoding.print(mask == 0 ? ".ALL" : " " + hex(mask));
}

void print_copy_condition(Decoding& decoding) {
  if (decoding.bits(87, 4) != 7) {
    decoding.print(", " + read_predicate(decoding, kPredicate, 87, 90));
  }
}

// Prints the address of an mbarrier: [R2+URZ+0x400], or [UR4+0x400] without a thread's register.
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

void print_maximum_registers(Decoding& decoding) {
  const bool tries = decoding.bits(72, 2) == 2;
  decoding.print(tries ? ".TRY_ALLOC.CTAPOOL " : ".DEALLOC.CTAPOOL ");
  if (tries) decoding.print(written_predicate(decoding, kUniformPredicate, 81) + ", ");
  decoding.print(hex(decoding.bits(32, 8)));
}

void print_all_warp_predicates(Decoding& decoding) {
  print_predicates(decoding, kUniformPredicate, "UPR");
}

// Prints the mask that a vote writes, if the mask is used. A vote may write a mask or a predicate.
void print_vote_result(Decoding& decoding) {
  const std::string text = written_register(decoding, kGeneral, 16, 1);
  if (text != "RZ") decoding.print(text + ", ");
}

void print_match_result(Decoding& decoding) {
  if (!decoding.bit(79)) decoding.print(written_predicate(decoding, kPredicate, 81) + ", ");
}

// Prints which byte or half of the register a small integer is in.
void print_part(Decoding& decoding) {
  if (decoding.form() != 1) return;
  const std::uint64_t part = decoding.bits(60, 2), size = decoding.bits(84, 2);
  if (part == 0 || size > 1) return;
  decoding.print(size == 0 ? ".B" + std::to_string(part) : std::string(".H1"));
}

// Prints an F2FP: it packs two floats into one register, or unpacks two small floats from half a
// register.
void print_f2fp(Decoding& decoding) {
  constexpr int kUnpacks = 89, kUpperHalf = 88, kNotE5 = 73, kBf16 = 76, kRelu = 75;
  if (decoding.bit(kUnpacks)) {
    decoding.print(decoding.bit(kNotE5) ? ".F16.E4M3.UNPACK_B " : ".F16.E5M2.UNPACK_B ");
    decoding.print(written_register(decoding, kGeneral, 16, 1) + ", ");
    decoding.print(read_register(decoding, kGeneral, 32, 1, 1));
    if (decoding.bit(kUpperHalf)) decoding.print(".H1");
    return;
  }
  if (decoding.bit(kRelu)) decoding.print(".RELU");
  // sm_80 and sm_86 pack only FP32, so disassemblers leave out the type.
  const bool is_short = decoding.sm < 89 && !decoding.is_complete;
  decoding.print(decoding.bit(kBf16) ? ".BF16" : is_short ? "" : ".F16");
  decoding.print(is_short ? ".PACK_AB" : ".F32.PACK_AB");
  decoding.print(decoding.bits(79, 2) == 3 ? ".RZ " : " ");
  decoding.print(written_register(decoding, kGeneral, 16, 1) + ", ");
  decoding.print(read_register(decoding, kGeneral, 24, 1, 0) + ", ");
  decoding.print(read_register(decoding, kGeneral, 32, 1, 1));
}

// Prints three registers whose signs serve as predicates.
void print_signs(Decoding& decoding) {
  decoding.print(read_register(decoding, kGeneral, 24, 1, 0) + ".SIGN, ");
  decoding.print(read_register(decoding, kGeneral, 32, 1, 1) + ".SIGN, ");
  decoding.print(read_register(decoding, kGeneral, 64, 1, 2) + ".SIGN");
}

void print_dot_product(Decoding& decoding) {
  const bool two = decoding.bit(76);
  decoding.print(!two ? ".4A" : decoding.bit(77) ? ".2A.HI" : ".2A.LO");
  decoding.print(decoding.bit(73) ? ".S" : ".U");
  decoding.print(two ? "16" : "8");
  decoding.print(decoding.bit(74) ? ".S8" : ".U8");
}

void print_cache_control(Decoding& decoding) {
  if (decoding.bit(89)) return decoding.print(".IVALL");
  decoding.print(decoding.bit(87) ? ".E.PF2 [" : ".E.PF1 [");
  decoding.print(read_register(decoding, kGeneral, 24, 2, 0) + "]");
}

// Prints the integer type of a conversion: bits `size` hold log2 of its bytes, and bit `sign` says
// whether it is signed.
void print_integer(Decoding& decoding, int size, int sign) {
  static constexpr std::array<const char*, 4> kBits = {"8", "16", "32", "64"};
  const bool is_signed = decoding.bit(sign);
  const std::uint64_t number = decoding.bits(size, 2);
  if (is_signed && number == 2) return;
  decoding.print(std::string(is_signed ? ".S" : ".U") + kBits[number]);
}

using Printer = void (*)(Decoding&);

const std::unordered_map<std::string_view, Printer>& special_printers() {
  static const std::unordered_map<std::string_view, Printer> table = {
      {".imad", print_imad_name},
      {"lea_high", print_lea_high},
      {"ulea_high", print_ulea_high},
      {".int", [](Decoding& decoding) { print_integer(decoding, 75, 72); }},
      {".from_int", [](Decoding& decoding) { print_integer(decoding, 84, 74); }},
      {"all_warp_predicates", print_all_warp_predicates},
      {"vote_result", print_vote_result},
      {"match_result", print_match_result},
      {"part", print_part},
      {"f2fp", print_f2fp},
      {"signs", print_signs},
      {".dot", print_dot_product},
      {"cache_control", print_cache_control},
      {"distance", [](Decoding& decoding) { decoding.print(signed_hex(distance_of(decoding))); }},
      {"near",
       [](Decoding& decoding) { print_from_next(decoding, signed_bits(decoding, 24, 32)); }},
      {"return", print_return},
      {"collective", print_collective},
      {"reduces", print_barrier_reduction},
      {"lanes", print_lanes},
      {"plop_lut", print_plop_lut},
      {"plop_third", print_plop_third},
      {"all_predicates", print_all_predicates},
      {"written_predicates", [](Decoding& d) { print_written_predicates(d, kPredicate, "PR"); }},
      {"written_warp_predicates",
       [](Decoding& d) { print_written_predicates(d, kUniformPredicate, "UPR"); }},
      {"both_out", print_both_out},
      {"exit_condition", print_exit_condition},
      {"special_register", print_special_register},
      {"reconvergence", print_reconvergence},
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
      {"maximum_registers", print_maximum_registers},
  };
  return table;
}

// Prints a field as a number: "hex5@75" is five bits from bit 75 on.
bool print_number(Decoding& decoding, std::string_view word) {
  const std::size_t at = word.find('@');
  if (!word.starts_with("hex") || at == std::string_view::npos) return false;
  const int count = std::stoi(std::string(word.substr(3, at - 3)));
  decoding.print(hex(decoding.bits(std::stoi(std::string(word.substr(at + 1))), count)));
  return true;
}

}  // namespace

bool print_special_piece(Decoding& decoding, std::string_view word) {
  const auto found = special_printers().find(word);
  if (found == special_printers().end()) return print_number(decoding, word);
  found->second(decoding);
  return true;
}

}  // namespace tessera::sass
