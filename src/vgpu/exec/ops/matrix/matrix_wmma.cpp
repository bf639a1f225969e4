// wmma.load and wmma.store: tiles of matrix_form.h between registers and memory. PTX leaves the
// layout of wmma fragments undefined; here it is that of mma tiles, as on hardware.
//
// Elements of one register that are contiguous in memory are one access, and so are the two
// registers of a row of an accumulator. All other elements are separate accesses.
#include "vgpu/exec/ops/matrix/matrix_access.h"
#include "vgpu/exec/ops/tables.h"
#include "vgpu/program/matrix_form.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// The operands of one instruction: base, stride and offset. They are copied, because a destination
// register may be one of them.
struct Transfer {
  FragmentForm form;
  const u32* registers;
  u64 base[kLanes];
  u64 stride[kLanes];  // between rows or columns, in elements

  Transfer(const Lanes& lanes, const Op& op) : form(fragment_form(op.immediate)) {
    registers = lanes.operand_lists + op.list;
    const u32* strides = lanes_of<u32>(lanes, op.operand[1]);
    const u64 offset = *lanes_of<u64>(lanes, op.operand[2]);
    for (int l = 0; l < kLanes; ++l) {
      base[l] = offset + (op.flags & kAddress64 ? lanes_of<u64>(lanes, op.operand[0])[l]
                                                : lanes_of<u32>(lanes, op.operand[0])[l]);
      stride[l] = strides[l];
    }
  }
  bool is_accumulator() const { return form.options & kIsAccumulator; }
  int elements() const { return 8 * form.register_bytes / form.bits; }
  bool steps_through_x() const { return form.options & kXInner; }
};

// The position in the matrix of a register's elements in lane 0, and the step to other lanes.
struct Corner {
  int x, y;    // the place of lane 0
  int y_step;  // from one lane position to the next
};

Corner factor_corner(const FragmentForm& form, int r, int elements) {
  const int in_tile = form.halves * form.k_groups, q = r % in_tile;
  return {8 * form.halves * (r / in_tile) + 8 * (q % form.halves), 4 * elements * (q / form.halves),
          elements};
}
Corner accumulator_corner(const FragmentForm& form, int r, int elements) {
  const int in_row = 2 / elements, in_tile = form.halves * in_row;
  const int tile = r / in_tile, half = r % in_tile / in_row;
  return {8 * form.halves * (tile / form.tiles_y) + 8 * half,
          8 * (tile % form.tiles_y) + r % in_row, 2};
}

// One access of all lanes, `bytes` per lane: `count` registers from register r on, or if the
// elements are not contiguous, element j of register r.
template <AccessKind kind, int bytes>
void move(Lanes& lanes, const Op& op, const Transfer& transfer, int r, int j, int count) {
  const FragmentForm& form = transfer.form;
  const int elements = transfer.elements();
  const Corner corner = transfer.is_accumulator() ? accumulator_corner(form, r, elements)
                                                  : factor_corner(form, r, elements);
  alignas(64) u64 address[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const u64 x = u64(corner.x + l / 4), y = u64(corner.y + l % 4 * corner.y_step + j);
    const u64 index =
        transfer.steps_through_x() ? y * transfer.stride[l] + x : x * transfer.stride[l] + y;
    address[l] = transfer.base[l] + index * form.bits / 8;
  }
  Access access;
  reach<kind, bytes>(lanes, op, kAllLanes, address, access);
  const u32 part = u32(bytes / count);
  for (int i = 0; i < count; ++i) {
    std::byte* cells = lanes.registers + transfer.registers[r + i] + u32(j) * form.bits / 8;
    for (int l = 0; l < kLanes; ++l) {
      std::byte* cell = cells + u32(l) * form.register_bytes;
      std::byte* memory = access.lane[l] + u32(i) * part;
      if (kind == AccessKind::kLoad) {
        __builtin_memcpy(cell, memory, part);
      } else {
        __builtin_memcpy(memory, cell, part);
      }
    }
  }
}

template <AccessKind kind>
void move_bytes(Lanes& lanes, const Op& op, const Transfer& transfer, int bytes, int r, int j,
                int count) {
  switch (bytes) {
    case 1:
      return move<kind, 1>(lanes, op, transfer, r, j, count);
    case 2:
      return move<kind, 2>(lanes, op, transfer, r, j, count);
    case 4:
      return move<kind, 4>(lanes, op, transfer, r, j, count);
    case 8:
      return move<kind, 8>(lanes, op, transfer, r, j, count);
    default:
      return move<kind, 16>(lanes, op, transfer, r, j, count);
  }
}

// Moves the registers of all tiles. Returns their number.
template <AccessKind kind>
int move_tiles(Lanes& lanes, const Op& op, const Transfer& transfer) {
  const FragmentForm& form = transfer.form;
  const int elements = transfer.elements();
  const int registers = transfer.is_accumulator()
                            ? form.tiles_x * form.tiles_y * form.halves * 2 / elements
                            : form.tiles_x * form.halves * form.k_groups;
  const bool pairs = transfer.is_accumulator() && elements == 1 && !transfer.steps_through_x();
  const int count = pairs ? 2 : 1;
  for (int r = 0; r < registers; r += count) {
    if (elements == 1 || !transfer.steps_through_x()) {
      move_bytes<kind>(lanes, op, transfer, count * form.register_bytes, r, 0, count);
    } else {
      for (int j = 0; j < elements; ++j) {
        move_bytes<kind>(lanes, op, transfer, form.bits / 8, r, j, 1);
      }
    }
  }
  return registers;
}

// HW: A and B are loaded from shared memory with ldmatrix if their types allow it, 16 bytes of a
// row at a time. PTX requires that each row or column begins at a multiple of a lane's fragment,
// CUDA that strides are multiples of 16 bytes. Accumulators are moved, and checked, in pairs.
void check_rows(const Lanes& lanes, const Op& op, const Transfer& transfer) {
  if (transfer.is_accumulator()) return;
  const int fragment = transfer.form.registers * transfer.form.register_bytes;
  const u64 unit = u64(fragment < 16 ? fragment : 16);
  const Window given = Window(op.flags & kWindowMask);
  for (int l = 0; l < kLanes; ++l) {
    const Window window = given == Window::kGeneric ? window_of(transfer.base[l]) : given;
    if (window != Window::kShared) continue;
    const u64 row = transfer.stride[l] * transfer.form.bits / 8;
    const u64 base = transfer.base[l], second = base + row;
    const u64 wrong = base % unit != 0 ? base : second;
    if (wrong % unit == 0) continue;
    fault_misaligned_row(lanes, op, {window, wrong, int(unit), l});
  }
}

void wmma_load(const Op* op, const Op*, Lanes& lanes) {
  const Transfer transfer(lanes, *op);
  check_rows(lanes, *op, transfer);
  const int loaded = move_tiles<AccessKind::kLoad>(lanes, *op, transfer);
  for (int r = loaded; r < transfer.form.registers; ++r) {
    __builtin_memcpy(lanes_of<u32>(lanes, transfer.registers[r]),
                     lanes_of<u32>(lanes, transfer.registers[r % loaded]), kLanes * sizeof(u32));
  }
}

void wmma_store(const Op* op, const Op*, Lanes& lanes) {
  move_tiles<AccessKind::kStore>(lanes, *op, Transfer(lanes, *op));
}

constexpr Signature kTransfer = {0, 3, {Scalar::k64, Scalar::k32, Scalar::k64}};

constexpr Rows<2> kMatrixWmmaRows = {{
    {"wmma.load", kDefault, wmma_load, kTransfer},
    {"wmma.store", kDefault, wmma_store, kTransfer},
}};

}  // namespace

const OperationTable kMatrixTransferTable = table(kMatrixWmmaRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
