// wmma and mma on doubles, m8n8k4. The place of an element in the lanes is that of mma.sync: A's
// (row, k) in lane 4 row + k, B's (k, col) in lane 4 col + k, C's (row, col) in lane 4 row + col /
// 2, register col % 2. PTX leaves the map of wmma open, so this is as good as any.
#include "vgpu/exec/ops/float.h"
#include "vgpu/exec/ops/matrix_flags.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// d = a * b + c, k ascending, one rounding a step.
void mma_f64(const Op* op, const Op*, Lanes& lanes) {
  const double* a = lanes_of<double>(lanes, op->operand[2]);
  const double* b = lanes_of<double>(lanes, op->operand[3]);
  alignas(64) double d[2][kLanes], columns[2][4][4];  // columns: (register, k, col / 2)
  for (int i = 0; i < 2; ++i) {
    const double* c = lanes_of<double>(lanes, op->operand[4 + i]);
    for (int l = 0; l < kLanes; ++l) d[i][l] = c[l];
    for (int k = 0; k < 4; ++k) {
      for (int j = 0; j < 4; ++j) columns[i][k][j] = b[4 * (2 * j + i) + k];
    }
  }
  for (int row = 0; row < 8; ++row) {
    for (int i = 0; i < 2; ++i) {
      for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 4; ++j) {
          double& sum = d[i][4 * row + j];
          sum = Fma64<kDefault>::eval(a[4 * row + k], columns[i][k][j], sum);
        }
      }
    }
  }
  for (int i = 0; i < 2; ++i) blend(lanes_of<double>(lanes, op->operand[i]), d[i], lanes.mask);
}

// The address of each lane's element: its row (or column) times the stride, plus the other.
void fragment_address(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    const u64* base = lanes_of<u64>(lanes, first->operand[1]);
    const u32* stride = lanes_of<u32>(lanes, first->operand[2]);
    const u32 map = first->flags;
    write_lanes<u64>(lanes, first->operand[0], [=](int lane) {
      const u64 outer = u64(lane / 4);
      const u64 inner = map & kAccumulator ? u64(2 * (lane % 4)) + (map & kSecondRegister ? 1 : 0)
                                           : u64(lane % 4);
      const u64 index =
          map & kInnerStrided ? inner * stride[lane] + outer : outer * stride[lane] + inner;
      return base[lane] + sizeof(double) * index;
    });
  }
}

constexpr Scalar kD = Scalar::kF64, kA = Scalar::k64;

constexpr Rows<2> kRows = {{
    {"mma.m8n8k4.f64", kDefault, mma_f64, {2, 6, {kD, kD, kD, kD, kD, kD}}},
    {"wmma.address.m8n8k4.f64", kDefault, fragment_address, {1, 3, {kA, kA, Scalar::k32}}},
}};

}  // namespace

const OperationTable kMatrixTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
