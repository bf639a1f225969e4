// What a matrix instruction multiplies, as the decoder describes it to the operations: shape and
// types, packed into Op::immediate; and how registers hold the elements of a tile.
//
// mma, wmma and wgmma all work on one kind of tile, with the element layout of mma.m16n8. With g =
// lane / 4 and t = lane % 4,
//   A (rows x k)  register q: row g + 8 * (q % halves), k = (q / halves * 4 + t) * v + j
//   B (k x 8)     register q: column g,                 k = (q * 4 + t) * v + j
//   C, D          register r = 2 * half + p: row g + 8 * half, column 2 t + p
// where a register holds v elements j (one of 64 or 32 bits, two of 16 bits, ...), `halves` is the
// number of rows / 8, and for FP16 C and D one register holds p = 0 and p = 1.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

enum class Element : std::uint8_t {
  kF16,
  kBf16,
  kTf32,
  kE4m3,
  kE5m2,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kF64
};
enum class Accumulator : std::uint8_t { kF16, kF32, kS32, kF64 };

constexpr std::uint8_t kSaturate = 1;        // .satfinite
constexpr std::uint8_t kAndPopc = 2;         // b1: AND instead of XOR
constexpr std::uint8_t kNegateProducts = 4;  // wgmma: one of imm-scale-a and imm-scale-b is -1
constexpr std::uint8_t kWarpgroup = 8;       // wgmma
constexpr std::uint8_t kOtherC = 16;         // D is FP32 and C is FP16, or the reverse

struct MatrixForm {
  Element a = Element::kF16, b = Element::kF16;
  Accumulator d = Accumulator::kF32;
  std::uint8_t options = 0;
  std::uint8_t m = 16;  // rows of one tile: 8 or 16; wmma and wgmma have several tiles
  std::uint8_t tiles_m = 1, tiles_n = 1;  // tiles of m rows; tiles of 8 columns
  std::uint8_t k_groups = 1;              // k = 4 * v * k_groups

  constexpr int halves() const { return m / 8; }
};
static_assert(sizeof(MatrixForm) == 8);

static constexpr std::int64_t packed(const MatrixForm& form) {
  return __builtin_bit_cast(std::int64_t, form);
}
static constexpr MatrixForm matrix_form(std::int64_t immediate) {
  return __builtin_bit_cast(MatrixForm, immediate);
}

// The fragment that wmma.load or wmma.store moves, packed into Op::immediate: tiles along x (rows
// of A, C and D; columns of B) by tiles or k groups along y (k of A and B; columns of C and D).
struct FragmentForm {
  std::uint8_t bits = 16;           // bits per element
  std::uint8_t register_bytes = 4;  // bytes per lane
  std::uint8_t halves = 2;          // halves of a tile
  std::uint8_t tiles_x = 1;
  std::uint8_t tiles_y = 1;    // tiles of an accumulator
  std::uint8_t k_groups = 1;   // k groups of a factor
  std::uint8_t registers = 1;  // all; those beyond the tiles' repeat them
  std::uint8_t options = 0;
};
static_assert(sizeof(FragmentForm) == 8);
constexpr std::uint8_t kIsAccumulator = 1;
constexpr std::uint8_t kXInner = 2;  // neighbours along x are contiguous in memory

static constexpr std::int64_t packed(const FragmentForm& form) {
  return __builtin_bit_cast(std::int64_t, form);
}
static constexpr FragmentForm fragment_form(std::int64_t immediate) {
  return __builtin_bit_cast(FragmentForm, immediate);
}

static constexpr int bits_of(Element element) {
  switch (element) {
    case Element::kF64:
      return 64;
    case Element::kTf32:
      return 32;
    case Element::kF16:
    case Element::kBf16:
      return 16;
    case Element::kS4:
    case Element::kU4:
      return 4;
    case Element::kB1:
      return 1;
    default:
      return 8;
  }
}
static constexpr bool is_integer(Element element) {
  return element >= Element::kS8 && element <= Element::kB1;
}
static constexpr bool is_eight_bit_float(Element element) {
  return element == Element::kE4m3 || element == Element::kE5m2;
}
// The number of elements in a register.
static constexpr int elements_in(Element element) {
  return element == Element::kF64 ? 1 : 32 / bits_of(element);
}
static constexpr int depth_of(const MatrixForm& form) {
  return 4 * elements_in(form.a) * form.k_groups;
}
// The number of registers per lane that hold one tile.
static constexpr int registers_of_a(const MatrixForm& form) {
  return form.halves() * form.k_groups;
}
static constexpr int registers_of_b(const MatrixForm& form) { return form.k_groups; }
static constexpr int registers_of_d(const MatrixForm& form) {
  return form.d == Accumulator::kF16 ? form.halves() : 2 * form.halves();
}
static constexpr Accumulator type_of_c(const MatrixForm& form) {
  if (!(form.options & kOtherC)) return form.d;
  return form.d == Accumulator::kF16 ? Accumulator::kF32 : Accumulator::kF16;
}
static constexpr int registers_of_c(const MatrixForm& form) {
  return type_of_c(form) == Accumulator::kF16 ? form.halves() : 2 * form.halves();
}

}  // namespace tessera::vgpu
