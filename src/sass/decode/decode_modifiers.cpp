#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "sass/decode/decode.h"

// HW: positions and values as in open compilers and assemblers (Mesa's NAK, turingas, CuAssembler),
// checked against code that was compiled for the tests of the decoder.
namespace tessera::sass {
namespace {

// A field and the text of each of its values. A value without a text prints as a number.
struct Modifier {
  std::string_view word;
  int first, count;
  std::vector<std::string_view> names;
};

const std::vector<Modifier>& modifiers() {
  static const std::vector<std::string_view> kRounding = {"", ".RM", ".RP", ".RZ"};
  static const std::vector<Modifier> table = {
      // Floating point.
      {".ftz", 80, 1, {"", ".FTZ"}},
      {".rounding", 78, 2, kRounding},
      {".saturate", 77, 1, {"", ".SAT"}},
      {".whole", 78, 2, {"", ".FLOOR", ".CEIL", ".TRUNC"}},
      {".ntz", 77, 1, {"", ".NTZ"}},
      {".scale", 84, 3, {".D2", ".D4", ".D8", ".M8", "", ".M4", ".M2"}},
      {".fcompare",
       76,
       4,
       {".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM", ".NAN", ".LTU", ".EQU", ".LEU",
        ".GTU", ".NEU", ".GEU", ".T"}},
      {".dcompare",
       76,
       4,
       {".MIN", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM", ".NAN", ".LTU", ".EQU", ".LEU",
        ".GTU", ".NEU", ".GEU", ".MAX"}},
      {".xor_sign", 82, 1, {"", ".XORSIGN"}},
      {".nan", 81, 1, {"", ".NAN"}},
      {".bf16", 85, 1, {"", ".BF16_V2"}},
      {".relu", 79, 1, {"", ".RELU"}},
      {".relu76", 76, 1, {"", ".RELU"}},
      {".byte76", 76, 2, {"", ".B1", ".B2", ".B3"}},
      {".f32", 78, 1, {"", ".F32"}},
      {".bf", 71, 1, {"", ".BF"}},
      {".half_and", 69, 2, {".AND", ".OR", ".XOR"}},
      {".special",
       74,
       6,
       {".COS", ".SIN", ".EX2", ".LG2", ".RCP", ".RSQ", ".RCP64H", ".RSQ64H", ".SQRT", ".TANH"}},
      // Integers.
      {".compare", 76, 3, {".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".T"}},
      {".and", 74, 2, {".AND", ".OR", ".XOR"}},
      {".ex", 72, 1, {"", ".EX"}},
      {".u32", 73, 1, {".U32", ""}},
      {".x", 74, 1, {"", ".X"}},
      {".high", 80, 1, {"", ".HI"}},
      {".sx32", 73, 1, {"", ".SX32"}},
      {".direction", 76, 1, {".L", ".R"}},
      {".wrap", 75, 1, {"", ".W"}},
      {".shifted", 73, 2, {".S64", ".U64", ".S32", ".U32"}},
      {".bytes", 72, 3, {"", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16"}},
      {".or84", 84, 1, {"", ".OR"}},
      {".s32at72", 72, 1, {".U32", ""}},
      {".pair", 73, 1, {"", ".16x2"}},
      {".u8", 73, 1, {".U8", ""}},
      {".accumulates", 75, 1, {"", ".ACC"}},
      {".shift_amount", 74, 1, {"", ".SH"}},
      {".u64", 73, 1, {"", ".U64"}},
      {".integer76", 76, 2, {".U8", ".S8", ".U16", ".S16"}},
      {".signed", 73, 1, {"", ".S32"}},
      {".match", 79, 1, {".ALL", ".ANY"}},

      // Types of conversions. Fields hold the logarithm of a type's size in bytes.
      {".from_float", 84, 2, {"", ".F16", "", ".F64"}},
      {".to_float", 75, 2, {"", ".F16", "", ".F64"}},
      {".to_named", 75, 3, {"", ".F16", ".F32", ".F64", ".BF16"}},
      {".from_named", 84, 2, {"", ".F16", ".F32", ".F64"}},
      {".s32", 74, 1, {".U32", ".S32"}},
      {".clock32", 80, 1, {".32", ""}},
      {".least", 72, 2, {".U32", "", ".U16x2", ".S16x2"}},
      // Memory.
      {".constant_size", 73, 3, {".U8", ".S8", ".U16", ".S16", "", ".64", ".128"}},
      {".cache_generic", 84, 3, {".EF", "", ".EL", ".LU", ".EU", ".NA"}},
      {".e", 72, 1, {"", ".E"}},
      {".e70", 70, 1, {"", ".E"}},
      {".size", 73, 3, {".U8", ".S8", ".U16", ".S16", "", ".64", ".128"}},
      {".cache", 84, 3, {".EF", "", ".EL", ".LU", ".EU", ".NA"}},
      {".unsafe", 76, 1, {"", ".U"}},
      {".bypass", 81, 1, {".BYPASS", ""}},
      {".number", 73, 3, {"", ".S32", ".64", ".S64"}},
      // On sm_75.
      {".number_before_90", 73, 3, {"", ".S32", ".64", ".F32.FTZ.RN", "", ".S64", ".F64.RN"}},
      {".compare_and_swap", 87, 3, {".CAS", "", "", ".CAST.SPIN"}},
      {".space", 73, 2, {".G", ".L", ".S", ".D"}},
      {".lines", 68, 3, {"", ".LTC64B", ".LTC128B", ".LTC256B"}},
      {".lines71", 71, 2, {"", ".LTC64B", ".LTC128B", ".LTC256B"}},
      {".zero_fill", 82, 1, {"", ".ZFILL"}},
      {".atom", 87, 4, {".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR", ".EXCH"}},
      {".reduction", 87, 3, {".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"}},
      {".transposed", 78, 1, {".M88", ".MT88"}},
      {".matrices", 72, 2, {"", ".2", ".4"}},
      {".shuffle", 58, 2, {".IDX", ".UP", ".DOWN", ".BFLY"}},
      {".float_sum",
       73,
       4,
       {"", "", "", "", "", "", "", "", "", ".F32.FTZ.RN", "", "", "", "", "", ".F64.RN"}},
      // Asynchronous copies and their barriers.
      {".trywait", 72, 1, {"", ".TRYWAIT"}},
      {".red", 74, 1, {"", ".RED"}},
      {".arrival", 84, 3, {"", ".A1T0", ".A0T1", ".A0TR", ".A0TX", ".ART0"}},
      {".opt_out", 75, 1, {"", ".OPTOUT"}},
      {".barrier_count", 70, 2, {"", ".ARVCNT", ".TRANSCNT"}},
      {".map_action", 82, 1, {".IV", ".PF"}},
      {".copied", 81, 4, {"", ".S32", "", "", ".F16.RN", ".F32.RN", "", "", ".BF16.RN"}},
      {".dimensions", 79, 3, {".1D", ".2D", ".3D", ".4D", ".5D"}},
      {".multicast", 75, 1, {"", ".MULTICAST"}},
      {".view", 72, 1, {".S", ".G"}},
      {".ways", 73, 2, {"", ".S.G", ".G.S", ".S.S"}},
      // Control.
      {".branch", 32, 2, {"", ".U", ".DIV", ".CONV"}},
      {".any", 84, 1, {"", ".ANY"}},
      {".exit", 84, 2, {"", ".KEEPREFCOUNT", ".PREEMPTED", ".NO_ATEXIT"}},
      {".bar", 77, 3, {".SYNC", ".ARV", ".RED", ".SCAN", ".SYNCALL"}},
      {".defer", 80, 1, {"", ".DEFER_BLOCKING"}},
      {".clear", 84, 1, {"", ".CLEAR"}},
      {".vote", 72, 2, {".ALL", ".ANY", ".EQ"}},
      {".fence_order", 79, 2, {".SC", ".ALL"}},
      {".fence_scope", 76, 3, {".CTA", ".SM", ".GPU", ".SYS", "", ".VC"}},
      {".diverges", 32, 2, {"", "", ".DIV", ".CONV"}},
      {".syncs", 84, 1, {"", ".SYNCS"}},
      {".reduced", 78, 3, {"", ".OR", ".XOR", ".SUM", ".MIN", ".MAX"}},
  };
  return table;
}

}  // namespace

bool print_modifier(Decoding& decoding, std::string_view word) {
  if (word == ".number" && decoding.sm < 90) word = ".number_before_90";
  const auto& table = modifiers();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Modifier& modifier) { return modifier.word == word; });
  if (found == table.end()) return false;
  const std::uint64_t value = decoding.bits(found->first, found->count);
  if (value < found->names.size()) {
    decoding.print(found->names[value]);
  } else {
    decoding.print("." + std::string(word.substr(1)) + std::to_string(value));
  }
  return true;
}

}  // namespace tessera::sass
