#include <array>
#include <string>
#include <unordered_map>

#include "sass/decode/decode_operands.h"

namespace tessera::sass {
namespace {

using enum RegisterFile;

// The name of a matrix product, and how many registers a lane holds of A (m x k), B (k x n) and C
// (m x n).
struct Shape {
  const char* name;
  int a, b, c;
};

void print_operands(Decoding& decoding, const Shape& shape, const char* of_a = "",
                    const char* of_b = "") {
  decoding.print(written_register(decoding, kGeneral, 16, shape.c) + ", ");
  decoding.print(read_register(decoding, kGeneral, 24, shape.a, 0) + of_a + ", ");
  decoding.print(read_register(decoding, kGeneral, 32, shape.b, 1) + of_b + ", ");
  decoding.print(read_register(decoding, kGeneral, 64, shape.c, 2));
}

const Shape& dmma_shape(const Decoding& decoding) {
  static constexpr std::array<Shape, 4> kShapes = {
      {{".8x8x4", 2, 2, 4}, {".16x8x4", 4, 2, 8}, {".16x8x8", 8, 4, 8}, {".16x8x16", 16, 8, 8}}};
  return kShapes[decoding.bits(76, 2)];
}

void print_dmma_name(Decoding& decoding) {
  decoding.print(decoding.sm < 90 ? ".884" : dmma_shape(decoding).name);
}

constexpr int kHmmaDeep = 75, kHmmaF32 = 76, kHmmaShort = 78, kHmmaBf16 = 82, kHmmaTf32 = 83;

Shape hmma_shape(const Decoding& decoding) {
  const int c = decoding.bit(kHmmaF32) ? 4 : 2;
  if (decoding.bit(kHmmaShort)) return {".1684", 2, 1, c};
  const bool full = decoding.bit(kHmmaDeep) || decoding.bit(kHmmaTf32);
  return {decoding.bit(kHmmaDeep) ? ".16816" : ".1688", full ? 4 : 2, full ? 2 : 1, c};
}

void print_hmma_name(Decoding& decoding) {
  decoding.print(hmma_shape(decoding).name);
  decoding.print(decoding.bit(kHmmaF32) ? ".F32" : ".F16");
  if (decoding.bit(kHmmaBf16)) decoding.print(".BF16");
  if (decoding.bit(kHmmaTf32)) decoding.print(".TF32");
}

const Shape& imma_shape(const Decoding& decoding) {
  static constexpr Shape k8816 = {".8816", 1, 1, 2}, k16816 = {".16816", 2, 1, 4},
                         k16832 = {".16832", 4, 2, 4};
  if (!decoding.bit(86)) return k8816;
  return decoding.bit(75) ? k16832 : k16816;
}

void print_imma_name(Decoding& decoding) {
  decoding.print(imma_shape(decoding).name);
  decoding.print(decoding.bit(76) ? ".S8" : ".U8");
  decoding.print(decoding.bit(78) ? ".S8" : ".U8");
  if (decoding.bit(82)) decoding.print(".SAT");
}

const Shape& bmma_shape(const Decoding& decoding) {
  static constexpr std::array<Shape, 4> kShapes = {
      {{".88128", 1, 1, 2}, {".168128", 2, 1, 4}, {".168256", 4, 2, 4}, {".?", 4, 2, 4}}};
  return kShapes[decoding.bits(75, 2)];
}

// Returns the columns of B in a warpgroup's product, which has 64 rows: 8 * (bits 53-57 + 1).
int columns(const Decoding& decoding) { return static_cast<int>(8 * (decoding.bits(53, 5) + 1)); }

// Returns the columns of B in products of integers or bits, which have fewer widths: 8, 16, 24, 32
// and then multiples of 16. `number` numbers the widths. For bytes, the field holds three times
// this number.
int columns_by_number(int number) { return number < 4 ? 8 * (number + 1) : 16 * (number - 1); }

constexpr int kOfBytes = 0x1f1, kOfBits = 0x1f2;

int accumulators(const Decoding& decoding) {
  constexpr int kF32 = 75;
  const auto opcode = static_cast<int>(decoding.bits(0, 9));
  if (opcode == kOfBytes) return columns_by_number(static_cast<int>(decoding.bits(53, 6)) / 3) / 2;
  if (opcode == kOfBits) return columns_by_number(static_cast<int>(decoding.bits(53, 5))) / 2;
  return columns(decoding) / (decoding.bit(kF32) ? 2 : 4);
}

void print_igmma_name(Decoding& decoding) {
  decoding.print(".64x" + std::to_string(2 * accumulators(decoding)) + "x32");
  decoding.print(decoding.bit(76) ? ".S8" : ".U8");
  decoding.print(decoding.bit(82) ? ".S8" : ".U8");
  if (decoding.bit(75)) decoding.print(".SAT");
}

void print_bgmma_name(Decoding& decoding) {
  decoding.print(".64x" + std::to_string(2 * accumulators(decoding)) + "x256.AND.POPC");
}

void print_hgmma_name(Decoding& decoding) {
  static constexpr std::array<const char*, 4> kTypes = {"", ".BF16", ".TF32", ".?"};
  decoding.print(".64x" + std::to_string(columns(decoding)) + (decoding.bit(58) ? "x8" : "x16"));
  decoding.print(decoding.bit(75) ? ".F32" : ".F16");
  decoding.print(kTypes[decoding.bits(76, 2)]);
}

void print_qgmma_name(Decoding& decoding) {
  decoding.print(".64x" + std::to_string(columns(decoding)) + "x32");
  decoding.print(decoding.bit(75) ? ".F32" : ".F16");
  decoding.print(decoding.bit(76) ? ".E5M2" : ".E4M3");
  decoding.print(decoding.bit(77) ? ".E5M2" : ".E4M3");
}

void print_accumulators(Decoding& decoding) {
  decoding.print(written_register(decoding, kGeneral, 16, accumulators(decoding)));
}

// Prints the predicate that says whether the old sum is added. Its number is stored inverted, so
// that 0 means PT.
void print_accumulate(Decoding& decoding) {
  const int number = 7 ^ static_cast<int>(decoding.bits(87, 3));
  const bool negated = decoding.bit(90);
  if (number == 7 && !negated) return;
  if (number != 7) decoding.operation.reads.push_back({kUniformPredicate, number, 1, -1});
  decoding.print(std::string(", ") + (negated ? "!" : "") +
                 predicate_name(kUniformPredicate, number));
}

// Prints the operands after A and B, for A in registers or in shared memory: the old accumulators,
// the predicate that says whether they are added, and the scoreboard to set.
void print_rest(Decoding& decoding) {
  decoding.print(", " + read_register(decoding, kGeneral, 64, accumulators(decoding), 2));
  print_accumulate(decoding);
  if (decoding.bits(84, 3) != 7) decoding.print(", gsb" + std::to_string(decoding.bits(84, 3)));
}

std::string changes_of(const Decoding& decoding, bool has_a) {
  std::string text;
  if (has_a && decoding.bit(61)) text += ".tnspA";
  if (decoding.bit(62)) text += ".tnspB";
  if (has_a && decoding.bit(72)) text += ".negA";
  if (decoding.bit(63)) text += ".negB";
  return text;
}

// Prints a product whose two matrices are in shared memory: their descriptors are in four uniform
// registers.
void print_shared_operands(Decoding& decoding) {
  decoding.print("gdesc[" + read_register(decoding, kUniform, 24, 4, -1) + "]");
  decoding.print(changes_of(decoding, true));
  print_rest(decoding);
}

void print_register_operands(Decoding& decoding) {
  decoding.print(read_register(decoding, kGeneral, 24, 4, 0) + ", gdesc[");
  decoding.print(read_register(decoding, kUniform, 32, 4, -1) + "]");
  decoding.print(changes_of(decoding, false));
  print_rest(decoding);
}

void print_warpgroup(Decoding& decoding) {
  if (!decoding.bit(80)) return decoding.print(".ARRIVE");
  decoding.print(".DEPBAR.LE gsb0, " + hex(decoding.bits(72, 3)));
}

using Printer = void (*)(Decoding&);

}  // namespace

bool print_tensor_piece(Decoding& decoding, std::string_view word) {
  static const std::unordered_map<std::string_view, Printer> printers = {
      {".dmma", print_dmma_name},
      {"dmma", [](Decoding& d) { print_operands(d, dmma_shape(d)); }},
      {".hmma", print_hmma_name},
      {"hmma", [](Decoding& d) { print_operands(d, hmma_shape(d)); }},
      {".imma", print_imma_name},
      {"imma", [](Decoding& d) { print_operands(d, imma_shape(d), ".ROW", ".COL"); }},
      {".bmma", [](Decoding& d) { d.print(bmma_shape(d).name + std::string(".AND.POPC")); }},
      {"bmma", [](Decoding& d) { print_operands(d, bmma_shape(d), ".ROW", ".COL"); }},
      {".hgmma", print_hgmma_name},
      {".qgmma", print_qgmma_name},
      {".igmma", print_igmma_name},
      {".bgmma", print_bgmma_name},
      {"accumulators", print_accumulators},
      {"operands", print_shared_operands},
      {"operands_in_registers", print_register_operands},
      {"warpgroup", print_warpgroup},
  };
  const auto found = printers.find(word);
  if (found == printers.end()) return false;
  found->second(decoding);
  return true;
}

}  // namespace tessera::sass
