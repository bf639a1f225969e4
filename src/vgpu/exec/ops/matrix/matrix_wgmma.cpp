// wgmma.mma_async: a warp computes its sixteen rows of the warpgroup's product. Operands are
// fetched from shared memory in chunks of 16 bytes, at the addresses that the matrix descriptor
// defines.
#include "vgpu/async/faults.h"
#include "vgpu/async/wgmma/wgmma_queue.h"
#include "vgpu/exec/ops/matrix/matrix_tile.h"
#include "vgpu/exec/ops/matrix/wgmma_flags.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// ---- addresses of the chunks --------------------------------------------------------------------

// HW: the swizzle pattern has 8 rows of 128, 64 or 32 bytes. The index of a chunk in its row is
// XORed with the index of its 128-byte line in the pattern. The pattern starts at multiples of its
// size, shifted by `base offset` lines of 128 bytes.
u32 swizzled(const WgmmaDescriptor& descriptor, u32 address) {
  if (descriptor.swizzle == WgmmaSwizzle::kNone) return address;
  const u32 chunks = row_bytes(descriptor.swizzle) / 16;
  const u32 phase = (address - (descriptor.base_offset << 7)) >> 7;
  return address ^ (phase & (chunks - 1)) << 4;
}

// Finds the chunks of `rows` rows from `first` on, two chunks (32 bytes) per row.
void find_k_major(const WgmmaDescriptor& descriptor, int first, int rows, u32* to) {
  const u32 row_step = row_bytes(descriptor.swizzle);
  const u32 half = descriptor.swizzle == WgmmaSwizzle::kNone ? descriptor.leading : 16;
  for (int i = 0; i < 2 * rows; ++i) {
    const u32 row = u32(first + i / 2);
    const u32 offset = row / 8 * descriptor.stride + row % 8 * row_step + u32(i % 2) * half;
    to[i] = swizzled(descriptor, descriptor.start + offset);
  }
}
// Finds the chunks of sixteen k of 16-bit elements. A chunk has eight rows of one k.
void find_mn_major(const WgmmaDescriptor& descriptor, int first, int rows, u32* to) {
  const bool plain = descriptor.swizzle == WgmmaSwizzle::kNone;
  const u32 row_step = row_bytes(descriptor.swizzle), chunks = row_step / 16;
  const u32 next_atom = plain ? descriptor.stride : descriptor.leading;
  const u32 next_k = plain ? descriptor.leading : descriptor.stride;
  for (int i = 0; i < 2 * rows; ++i) {
    const u32 chunk = u32(first / 8 + i / 16), k = u32(i % 16);
    const u32 offset =
        chunk / chunks * next_atom + chunk % chunks * 16 + k / 8 * next_k + k % 8 * row_step;
    to[i] = swizzled(descriptor, descriptor.start + offset);
  }
}

// Finds the offsets of chunks in the CTA's shared memory. Faults if a chunk is outside.
void find_chunks(const Lanes& lanes, const Op& op, u64 bits, bool mn_major, int first, int rows,
                 u32* to) {
  const WgmmaDescriptor descriptor = wgmma_descriptor(bits);
  if (mn_major) {
    find_mn_major(descriptor, first, rows, to);
  } else {
    find_k_major(descriptor, first, rows, to);
  }
  u32 furthest = 0;
  for (int i = 0; i < 2 * rows; ++i) {
    to[i] = (to[i] & 0x3ffff) - kSharedBase;
    furthest = furthest > to[i] ? furthest : to[i];
  }
  if (lanes.shared_bytes >= 16 && furthest <= lanes.shared_bytes - 16) return;
  for (int i = 0; i < 2 * rows; ++i) {
    if (lanes.shared_bytes >= 16 && to[i] <= lanes.shared_bytes - 16) continue;
    fault_out_of_bounds(lanes, op, {Window::kShared, u32(to[i] + kSharedBase), 16, 0});
  }
}

// ---- fetching -----------------------------------------------------------------------------------

// Transposes eight rows of eight numbers in place.
void transpose(float (*rows)[8]) {
  __m256 r[8], pairs[8], quads[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(rows[i]);
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      quads[i + 2 * j] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0x44);
      quads[i + 2 * j + 1] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0xee);
    }
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(rows[i], _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20));
    _mm256_storeu_ps(rows[i + 4], _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31));
  }
}

// Fetches eight rows from the chunks that find_chunks returned for them.
template <Element element>
void fetch(const WgmmaWork& work, const u32* chunks, bool mn_major, Panel& to) {
  constexpr int kDepth = 256 / bits_of(element);
  if (mn_major) {
    for (int k = 0; k < kDepth; ++k) {
      widen<element>(reinterpret_cast<const Cell<element>*>(work.shared + chunks[k]), to.value[k]);
    }
    return;
  }
  alignas(64) Cell<element> cells[8][kDepth];
  for (int row = 0; row < 8; ++row) {
    for (int half = 0; half < 2; ++half) {
      __builtin_memcpy(cells[row] + half * kDepth / 2, work.shared + chunks[2 * row + half], 16);
    }
  }
  for (int k = 0; k < kDepth; k += 8) {
    for (int row = 0; row < 8; ++row) widen<element>(cells[row] + k, to.value[k + row]);
    transpose(to.value + k);
  }
}

void fetch_bits(const WgmmaWork& work, const u32* chunks, BitPanel& to) {
  for (int row = 0; row < 8; ++row) {
    u32 words[8];
    for (int half = 0; half < 2; ++half) {
      __builtin_memcpy(words + 4 * half, work.shared + chunks[2 * row + half], 16);
    }
    for (int word = 0; word < 8; ++word) to.value[word][row] = words[word];
  }
}

// ---- multiplying --------------------------------------------------------------------------------

TileRegisters accumulators(const WgmmaWork& work, int tile) {
  TileRegisters registers;
  const int count = registers_of_d(work.form);
  for (int r = 0; r < count; ++r) {
    registers.at[r] = reinterpret_cast<u32*>(work.registers + work.d[tile * count + r]);
  }
  return registers;
}

// Eight rows have sixteen chunks.
constexpr int kChunksOfPanel = 16;

void negate(Factors& factors, int depth) {
  for (int k = 0; k < depth; ++k) {
    for (int l = 0; l < kLanes; ++l) factors.value[k][l] = -factors.value[k][l];
  }
}

void multiply_numbers(const WgmmaWork& work) {
  const MatrixForm& form = work.form;
  const int depth = depth_of(form);
  Factors a[2], b[2];
  Panel panel;
  for (int h = 0; h < 2; ++h) {
    if (work.a_in_registers) {
      const u32* registers[4] = {work.a[0], work.a[1], work.a[2], work.a[3]};
      unpack_panel(form.a, registers + h, 2, form.k_groups, depth, false, panel);
    } else {
      with_element(form.a, [&]<Element e>() {
        fetch<e>(work, work.a_chunks + h * kChunksOfPanel, work.a_mn_major, panel);
      });
    }
    spread_rows(panel, depth, lowest_exponent(form.a), a[h]);
    if (form.options & kNegateProducts) negate(a[h], depth);
  }
  for (int j = 0; j < form.tiles_n; ++j) {
    with_element(form.b, [&]<Element e>() {
      fetch<e>(work, work.b_chunks + j * kChunksOfPanel, work.b_mn_major, panel);
    });
    spread_columns(panel, depth, lowest_exponent(form.b), b);
    const TileRegisters d = accumulators(work, j);
    const TileRegisters* c = work.accumulate ? &d : nullptr;
    if (is_integer(form.a)) {
      multiply_integers(form, a, b, c, d);
    } else {
      multiply_floats(form, a, b, c, d);
    }
  }
}

void multiply_bit_rows(const WgmmaWork& work) {
  BitPanel a[2], b;
  for (int h = 0; h < 2; ++h) {
    if (work.a_in_registers) {
      for (int q = 0; q < 2; ++q) {
        for (int l = 0; l < kLanes; ++l) a[h].value[4 * q + l % 4][l / 4] = work.a[2 * q + h][l];
      }
    } else {
      fetch_bits(work, work.a_chunks + h * kChunksOfPanel, a[h]);
    }
  }
  for (int j = 0; j < work.form.tiles_n; ++j) {
    fetch_bits(work, work.b_chunks + j * kChunksOfPanel, b);
    const TileRegisters d = accumulators(work, j);
    multiply_bits(work.form, a, b, work.accumulate ? &d : nullptr, d);
  }
}

void multiply(const WgmmaWork& work) {
  if (work.form.a == Element::kB1) {
    multiply_bit_rows(work);
  } else {
    multiply_numbers(work);
  }
}

// ---- the instructions ---------------------------------------------------------------------------

bool accumulates(const Op& op, const Lanes& lanes) {
  if (op.flags & kAlwaysAccumulates) return true;
  if (op.flags & kNeverAccumulates) return false;
  const u32 predicate = predicate_of(lanes, op.operand[op.flags & kAInRegisters ? 1 : 2]);
  return ((predicate & 1) != 0) != ((op.flags & kAccumulateNegated) != 0);
}

void mma_async(const Op* op, const Op*, Lanes& lanes) {
  WgmmaWork work;
  work.form = matrix_form(op->immediate);
  work.a_in_registers = op->flags & kAInRegisters;
  work.a_mn_major = op->flags & kAMnMajor;
  work.b_mn_major = op->flags & kBMnMajor;
  work.accumulate = accumulates(*op, lanes);
  work.registers = lanes.registers;
  work.d = lanes.operand_lists + op->list;
  work.shared = lanes.shared;
  const int columns = 8 * work.form.tiles_n;
  work.b_descriptor = *lanes_of<u64>(lanes, op->operand[0]);
  work.a_descriptor = work.a_in_registers ? 0 : *lanes_of<u64>(lanes, op->operand[1]);
  find_chunks(lanes, *op, work.b_descriptor, work.b_mn_major, 0, columns, work.b_chunks);
  if (work.a_in_registers) {
    const u32* registers = work.d + work.form.tiles_n * registers_of_d(work.form);
    for (int q = 0; q < 4; ++q) {
      __builtin_memcpy(work.a[q], lanes_of<u32>(lanes, registers[q]), sizeof work.a[q]);
    }
  } else {
    const int first_row = 16 * (warp_index(lanes) % 4);
    find_chunks(lanes, *op, work.a_descriptor, work.a_mn_major, first_row, 16, work.a_chunks);
  }
  issue_wgmma(lanes, *op, work, multiply);
}

void fence(const Op* op, const Op*, Lanes& lanes) { fence_wgmma(lanes, *op); }
void commit_group(const Op* op, const Op*, Lanes& lanes) { commit_wgmma(lanes, *op); }
void wait_group(const Op* op, const Op*, Lanes& lanes) { wait_wgmma(lanes, *op); }

constexpr Rows<5> kMatrixWgmmaRows = {{
    {"wgmma.mma_async", kDefault, mma_async, {}},
    {"wgmma.fence", kDefault, fence, {}},
    {"wgmma.commit_group", kDefault, commit_group, {}},
    {"wgmma.wait_group", kDefault, wait_group, {}},
    {"wgmma.touch", kDefault, touch_wgmma_registers, {}},
}};

}  // namespace

const OperationTable kWgmmaTable = table(kMatrixWgmmaRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
