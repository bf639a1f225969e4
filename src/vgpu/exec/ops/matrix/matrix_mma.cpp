// mma.sync and wmma.mma on the tiles of matrix_form.h in registers. Op::list has the registers of
// D, A, B and C, tile by tile; the tiles of D are in row order.
#include "vgpu/exec/ops/matrix/matrix_tile.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// The registers of one instruction, by operand.
struct Operands {
  const Lanes& lanes;
  const u32 *d, *a, *b, *c;
  MatrixForm form;

  Operands(const Lanes& of, const Op& op) : lanes(of), form(matrix_form(op.immediate)) {
    const int d_count = form.tiles_m * form.tiles_n * registers_of_d(form);
    d = lanes.operand_lists + op.list;
    a = d + d_count;
    b = a + form.tiles_m * registers_of_a(form);
    c = b + form.tiles_n * registers_of_b(form);
  }
  template <class T = u32>
  T* at(u32 offset) const {
    return lanes_of<T>(lanes, offset);
  }
};

constexpr int kMaxTiles = 4, kMaxRegisters = 8;

// The results of the tiles. They are written after all operands are read, because D may share
// registers with any operand.
template <class T>
struct alignas(64) Result {
  T lane[2 * kMaxRegisters][kLanes];

  void keep(const Operands& operands) const {
    const MatrixForm& form = operands.form;
    const int count = form.tiles_m * form.tiles_n * registers_of_d(form);
    for (int r = 0; r < count; ++r) {
      __builtin_memcpy(operands.at<T>(operands.d[r]), lane[r], sizeof lane[r]);
    }
  }
};

TileRegisters registers_of_c(const Operands& operands, int tile) {
  TileRegisters registers;
  const int count = registers_of_c(operands.form);
  for (int r = 0; r < count; ++r) registers.at[r] = operands.at(operands.c[tile * count + r]);
  return registers;
}
TileRegisters registers_of(Result<u32>& result, int tile, int count) {
  TileRegisters registers;
  for (int r = 0; r < count; ++r) registers.at[r] = result.lane[tile * count + r];
  return registers;
}

// Pointers to the registers of one tile.
struct Fragment {
  const u32* at[kMaxRegisters];
  Fragment(const Operands& operands, const u32* offsets, int tile, int count) {
    for (int r = 0; r < count; ++r) at[r] = operands.at(offsets[tile * count + r]);
  }
};

// mma of all element types but doubles and bits.
void mma_numbers(const Op* op, const Op*, Lanes& lanes) {
  const Operands operands(lanes, *op);
  const MatrixForm& form = operands.form;
  const int depth = depth_of(form);
  const bool by_halves = sum_model(form).by_halves;
  Result<u32> result;
  Factors a[2], b[2];
  Panel panel;
  for (int i = 0; i < form.tiles_m; ++i) {
    const Fragment rows(operands, operands.a, i, registers_of_a(form));
    for (int h = 0; h < form.halves(); ++h) {
      unpack_panel(form.a, rows.at + h, form.halves(), form.k_groups, depth, by_halves, panel);
      spread_rows(panel, depth, lowest_exponent(form.a), a[h]);
    }
    for (int j = 0; j < form.tiles_n; ++j) {
      const Fragment columns(operands, operands.b, j, registers_of_b(form));
      unpack_panel(form.b, columns.at, 1, form.k_groups, depth, by_halves, panel);
      spread_columns(panel, depth, lowest_exponent(form.b), b);
      const int tile = i * form.tiles_n + j;
      const TileRegisters c = registers_of_c(operands, tile);
      const TileRegisters d = registers_of(result, tile, registers_of_d(form));
      if (is_integer(form.a)) {
        multiply_integers(form, a, b, &c, d);
      } else {
        multiply_floats(form, a, b, &c, d);
      }
    }
  }
  result.keep(operands);
}

void unpack_bits(const u32* const* registers, int step, int groups, BitPanel& to) {
  for (int q = 0; q < groups; ++q) {
    for (int l = 0; l < kLanes; ++l) to.value[q * 4 + l % 4][l / 4] = registers[q * step][l];
  }
}

// All shapes for bits have only one tile.
void mma_bits(const Op* op, const Op*, Lanes& lanes) {
  const Operands operands(lanes, *op);
  const MatrixForm& form = operands.form;
  Result<u32> result;
  BitPanel a[2], b;
  const Fragment rows(operands, operands.a, 0, registers_of_a(form));
  for (int h = 0; h < form.halves(); ++h) {
    unpack_bits(rows.at + h, form.halves(), form.k_groups, a[h]);
  }
  const Fragment columns(operands, operands.b, 0, registers_of_b(form));
  unpack_bits(columns.at, 1, form.k_groups, b);
  const TileRegisters c = registers_of_c(operands, 0);
  multiply_bits(form, a, b, &c, registers_of(result, 0, registers_of_d(form)));
  result.keep(operands);
}

// All shapes for doubles have only one tile.
void mma_doubles(const Op* op, const Op*, Lanes& lanes) {
  const Operands operands(lanes, *op);
  const MatrixForm& form = operands.form;
  Result<double> result;
  DoubleFactors a[2], b[2];
  for (int q = 0; q < form.k_groups; ++q) {
    spread_columns(operands.at<double>(operands.b[q]), q, b);
    for (int h = 0; h < form.halves(); ++h) {
      spread_rows(operands.at<double>(operands.a[q * form.halves() + h]), q, a[h]);
    }
  }
  double* sums[4];
  for (int r = 0; r < registers_of_d(form); ++r) {
    sums[r] = result.lane[r];
    const double* c = operands.at<double>(operands.c[r]);
    for (int l = 0; l < kLanes; ++l) sums[r][l] = c[l];
  }
  multiply_doubles(form, a, b, sums);
  result.keep(operands);
}

constexpr Rows<3> kMatrixMmaRows = {{
    {"mma.numbers", kDefault, mma_numbers, {}},
    {"mma.bits", kDefault, mma_bits, {}},
    {"mma.doubles", kDefault, mma_doubles, {}},
}};

}  // namespace

const OperationTable kMatrixTable = table(kMatrixMmaRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
