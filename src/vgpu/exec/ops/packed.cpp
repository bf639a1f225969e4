// Operations on two or four small integers in one register.
#include "vgpu/exec/ops/integer.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

template <auto f, class T>
u32 halves(u32 a, u32 b) {
  const u32 low = u16(f(T(a), T(b))), high = u16(f(T(a >> 16), T(b >> 16)));
  return high << 16 | low;
}

// vabsdiff4: the distances of four pairs of bytes; .add sums the four distances and c. Without
// .add, c would fill the bytes that a mask omits, but masks are not implemented here.
template <class T>
u32 distance(u32 a, u32 b, int byte) {
  const s32 x = T(a >> (8 * byte)), y = T(b >> (8 * byte));
  return u32(x < y ? y - x : x - y);
}
template <class T>
u32 distances(u32 a, u32 b, u32) {
  u32 d = 0;
  for (int i = 0; i < 4; ++i) d |= distance<T>(a, b, i) << (8 * i);
  return d;
}
template <class T>
u32 sum_of_distances(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i) c += distance<T>(a, b, i);
  return c;
}

constexpr Rows<10> kRows = {{
    row<halves<add<u16>, u16>>("add.u16x2"),
    row<halves<add<s16>, s16>>("add.s16x2"),
    row<halves<min<u16>, u16>>("min.u16x2"),
    row<halves<min<s16>, s16>>("min.s16x2"),
    row<halves<max<u16>, u16>>("max.u16x2"),
    row<halves<max<s16>, s16>>("max.s16x2"),
    row<distances<u8>>("vabsdiff4.u32.u32.u32"),
    row<distances<s8>>("vabsdiff4.u32.s32.s32"),
    row<sum_of_distances<u8>>("vabsdiff4.u32.u32.u32.add"),
    row<sum_of_distances<s8>>("vabsdiff4.u32.s32.s32.add"),
}};

}  // namespace

const OperationTable kPackedTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
