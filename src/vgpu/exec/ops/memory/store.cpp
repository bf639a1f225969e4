// st: stores one, two or four registers per lane to memory. A register wider than its cell is
// truncated.
#include "vgpu/exec/ops/memory/access.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

template <class R, class M, int count>
inline void store_half(const R* const (&from)[count], int first, std::byte* base, bool steps) {
  M* cells = reinterpret_cast<M*>(base);
  if (steps) {
#pragma GCC ivdep
    for (int l = 0; l < kHalf; ++l) {
      for (int i = 0; i < count; ++i) cells[l * count + i] = M(from[i][first + l]);
    }
  } else {
    for (int i = 0; i < count; ++i) cells[i] = M(from[i][first + kHalf - 1]);
  }
}

// If several lanes store to one address, the value of the highest lane remains.
template <class R, class M, int count>
void store(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    const R* from[count];
    for (int i = 0; i < count; ++i) from[i] = lanes_of<R>(lanes, first->operand[i + 1]);
    StoredValues values;
    if (lanes.observer) [[unlikely]] {
      values = {{}, sizeof(R), sizeof(M), count};
      for (int i = 0; i < count; ++i)
        values.registers[i] = reinterpret_cast<const std::byte*>(from[i]);
      lanes.stored = &values;
    }
    Access access;
    const Shape shape =
        resolve<AccessKind::kStore, sizeof(M) * count>(lanes, *first, first->operand[0], access);
    lanes.stored = nullptr;
    if (shape == Shape::kHalves) {
      for (int h = 0; h < 2; ++h) {
        store_half<R, M, count>(from, h * kHalf, access.base[h], access.steps[h]);
      }
    } else {
      for (u32 left = lanes.mask; left != 0; left &= left - 1) {
        const int l = first_lane(left);
        M* cells = reinterpret_cast<M*>(access.lane[l]);
        for (int i = 0; i < count; ++i) cells[i] = M(from[i][l]);
      }
    }
  }
}

template <class R, class M, int count>
constexpr Operation store_row(const char* name) {
  Signature signature = {0, count + 1, {Scalar::k64}};
  for (int i = 0; i < count; ++i) signature.operand[i + 1] = scalar_of<R>();
  return {name, kDefault, store<R, M, count>, signature};
}

// The decoder looks up "st.<bits in memory>.<register bits>", "st.v2..." and "st.v4...".
template <int count>
constexpr Rows<9> stores(const char* const (&names)[9]) {
  return {{store_row<u16, u8, count>(names[0]), store_row<u32, u8, count>(names[1]),
           store_row<u64, u8, count>(names[2]), store_row<u16, u16, count>(names[3]),
           store_row<u32, u16, count>(names[4]), store_row<u64, u16, count>(names[5]),
           store_row<u32, u32, count>(names[6]), store_row<u64, u32, count>(names[7]),
           store_row<u64, u64, count>(names[8])}};
}

constexpr auto kStoreRows =
    stores<1>({"st.8.16", "st.8.32", "st.8.64", "st.16.16", "st.16.32", "st.16.64", "st.32.32",
               "st.32.64", "st.64.64"}) +
    stores<2>({"st.v2.8.16", "st.v2.8.32", "st.v2.8.64", "st.v2.16.16", "st.v2.16.32",
               "st.v2.16.64", "st.v2.32.32", "st.v2.32.64", "st.v2.64.64"}) +
    stores<4>({"st.v4.8.16", "st.v4.8.32", "st.v4.8.64", "st.v4.16.16", "st.v4.16.32",
               "st.v4.16.64", "st.v4.32.32", "st.v4.32.64", "st.v4.64.64"});

}  // namespace

const OperationTable kStoreTable = table(kStoreRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
