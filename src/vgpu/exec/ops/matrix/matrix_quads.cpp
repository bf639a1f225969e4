// mma.m8n8k4 on FP16, the shape of Volta: four independent products of 8 x 8 x 4, each by eight
// lanes, those of quads q and q + 4. The lanes of quad q have the rows (or columns, or k) 0 to 3,
// those of quad q + 4 have 4 to 7.
//
// Model: products and sums in FP32, fused, k ascending; C is added last. HW: there is nothing to
// compare with: for sm_90, ptxas 13.0 compiles it to a sum without exchanges between lanes, which
// is not a matrix product.
#include "vgpu/exec/ops/matrix/matrix_flags.h"
#include "vgpu/exec/ops/matrix/matrix_panels.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

struct Quads {
  float a[4][8][4];  // (product, row, k)
  float b[4][4][8];  // (product, k, column)
  float c[4][8][8];  // (product, row, column)
};

struct Place {
  int product, base;  // base: 0 or 4, of rows or columns
  int line;           // 0 .. 3
};
Place place_of(int lane) { return {lane / 4 % 4, lane / 16 * 4, lane % 4}; }

// Returns the row and column of element i of an accumulator.
void accumulator_place(Accumulator type, int lane, int i, int& row, int& column) {
  const Place place = place_of(lane);
  const bool single = type == Accumulator::kF32;
  row = place.base + (single ? (lane & 1) + (i & 2) : place.line);
  column = single ? (i & 4) + (lane & 2) + (i & 1) : i;
}

// Calls f(lane, i, value) for each FP16 element: eight per lane of an accumulator, four of a
// factor.
template <class F>
void for_each_half(const Lanes& lanes, const u32* registers, int count, F f) {
  for (int r = 0; r < count; ++r) {
    const u32* words = lanes_of<u32>(lanes, registers[r]);
    for (int p = 0; p < 2; ++p) {
      alignas(64) float values[kLanes];
      read_accumulator(Accumulator::kF16, words, p, values);
      for (int l = 0; l < kLanes; ++l) f(l, 2 * r + p, values[l]);
    }
  }
}

void read_c(const Lanes& lanes, const u32* registers, Accumulator type, Quads& quads) {
  const auto put = [&](int lane, int i, float value) {
    int row, column;
    accumulator_place(type, lane, i, row, column);
    quads.c[place_of(lane).product][row][column] = value;
  };
  if (type == Accumulator::kF16) return for_each_half(lanes, registers, 4, put);
  for (int i = 0; i < 8; ++i) {
    const float* values = lanes_of<float>(lanes, registers[i]);
    for (int l = 0; l < kLanes; ++l) put(l, i, values[l]);
  }
}

void read_factors(const Lanes& lanes, const Op& op, const u32* a, const u32* b, Quads& quads) {
  for_each_half(lanes, a, 2, [&](int lane, int i, float value) {
    const Place place = place_of(lane);
    const bool columns = op.flags & kAByColumns;
    quads.a[place.product][place.base + (columns ? i : place.line)][columns ? place.line : i] =
        value;
  });
  for_each_half(lanes, b, 2, [&](int lane, int i, float value) {
    const Place place = place_of(lane);
    const bool rows = op.flags & kBByRows;
    quads.b[place.product][rows ? place.line : i][place.base + (rows ? i : place.line)] = value;
  });
}

float sum_of(const Quads& quads, int product, int row, int column) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    sum = __builtin_fmaf(quads.a[product][row][k], quads.b[product][k][column], sum);
  }
  sum += quads.c[product][row][column];
  return sum == sum ? sum : __builtin_bit_cast(float, 0x7fffffffu);
}

void mma_quads(const Op* op, const Op*, Lanes& lanes) {
  const MatrixForm form = matrix_form(op->immediate);
  const bool single = form.d == Accumulator::kF32;
  const u32* d = lanes.operand_lists + op->list;
  const u32* a = d + (single ? 8 : 4);
  Quads quads;
  read_factors(lanes, *op, a, a + 2, quads);
  read_c(lanes, a + 4, type_of_c(form), quads);
  for (int i = 0; i < 8; ++i) {
    u32* words = lanes_of<u32>(lanes, d[single ? i : i / 2]);
    for (int l = 0; l < kLanes; ++l) {
      int row, column;
      accumulator_place(form.d, l, i, row, column);
      const float sum = sum_of(quads, place_of(l).product, row, column);
      const u32 half = single ? 0 : u32(F16::narrow(double(sum))) << (16 * (i % 2));
      words[l] = single ? __builtin_bit_cast(u32, sum) : i % 2 == 0 ? half : words[l] | half;
    }
  }
}

constexpr Rows<1> kMatrixQuadsRows = {{{"mma.quads", kDefault, mma_quads, {}}}};

}  // namespace

const OperationTable kMatrixQuadTable = table(kMatrixQuadsRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
