// ldmatrix, stmatrix and movmatrix on matrices of 8 x 8 elements of 16 bits. Lanes 8 q to 8 q + 7
// have the addresses of the rows of matrix q. Lane l holds columns 2 (l % 4) and 2 (l % 4) + 1 of
// row l / 4; with .trans, of the transposed matrix.
//
// For each matrix an observer sees one access of eight lanes, 16 bytes each.
#include "vgpu/exec/ops/matrix/matrix_access.h"
#include "vgpu/exec/ops/matrix/matrix_flags.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

struct alignas(16) Tile {
  u16 cell[8][8];
};

int tile_count(const Op& op) { return int(op.flags >> kTileCountShift & kTileCountMask); }

// Finds the rows of matrix q in memory.
template <AccessKind kind>
void reach_rows(Lanes& lanes, const Op& op, int q, Access& access) {
  alignas(64) u64 address[kLanes];
  if (op.flags & kAddress64) {
    effective<u64>(lanes, op, op.operand[0], address);
  } else {
    effective<u32>(lanes, op, op.operand[0], address);
  }
  reach<kind, 16>(lanes, op, 0xffu << 8 * q, address, access);
}

void spread(const Tile& tile, bool transposed, u32* to) {
  for (int l = 0; l < kLanes; ++l) {
    const int row = l / 4, column = 2 * (l % 4);
    const u32 low = transposed ? tile.cell[column][row] : tile.cell[row][column];
    const u32 high = transposed ? tile.cell[column + 1][row] : tile.cell[row][column + 1];
    to[l] = low | high << 16;
  }
}
void collect(const u32* from, bool transposed, Tile& tile) {
  for (int l = 0; l < kLanes; ++l) {
    const int row = l / 4, column = 2 * (l % 4);
    (transposed ? tile.cell[column][row] : tile.cell[row][column]) = u16(from[l]);
    (transposed ? tile.cell[column + 1][row] : tile.cell[row][column + 1]) = u16(from[l] >> 16);
  }
}

// WHY all matrices are loaded first: a destination register may hold the address.
void ldmatrix(const Op* op, const Op*, Lanes& lanes) {
  Tile tiles[4];
  for (int q = 0; q < tile_count(*op); ++q) {
    Access access;
    reach_rows<AccessKind::kLoad>(lanes, *op, q, access);
    for (int row = 0; row < 8; ++row) {
      __builtin_memcpy(tiles[q].cell[row], access.lane[8 * q + row], sizeof tiles[q].cell[row]);
    }
  }
  const u32* registers = lanes.operand_lists + op->list;
  for (int q = 0; q < tile_count(*op); ++q) {
    spread(tiles[q], op->flags & kTransposeTiles, lanes_of<u32>(lanes, registers[q]));
  }
}

void stmatrix(const Op* op, const Op*, Lanes& lanes) {
  const u32* registers = lanes.operand_lists + op->list;
  for (int q = 0; q < tile_count(*op); ++q) {
    Tile tile;
    collect(lanes_of<u32>(lanes, registers[q]), op->flags & kTransposeTiles, tile);
    Access access;
    reach_rows<AccessKind::kStore>(lanes, *op, q, access);
    for (int row = 0; row < 8; ++row) {
      __builtin_memcpy(access.lane[8 * q + row], tile.cell[row], sizeof tile.cell[row]);
    }
  }
}

void movmatrix(const Op* op, const Op*, Lanes& lanes) {
  Tile tile;
  collect(lanes_of<u32>(lanes, op->operand[1]), false, tile);
  spread(tile, true, lanes_of<u32>(lanes, op->operand[0]));
}

constexpr Scalar kW = Scalar::k32;

constexpr Rows<3> kMatrixMoveRows = {{
    {"ldmatrix", kDefault, ldmatrix, {0, 1, {Scalar::k64}}},
    {"stmatrix", kDefault, stmatrix, {0, 1, {Scalar::k64}}},
    {"movmatrix", kDefault, movmatrix, {1, 2, {kW, kW}}},
}};

}  // namespace

const OperationTable kMatrixMoveTable = table(kMatrixMoveRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
