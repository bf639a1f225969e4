// The table of mov, which also packs several registers into one and unpacks them.
#include "vgpu/exec/ops/lift.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

template <class T>
T copy(T a) {
  return a;
}
template <class Whole, class Part>
Whole pack2(Part a, Part b) {
  return Whole(Whole(a) | Whole(b) << (8 * sizeof(Part)));
}
u64 pack4(u16 a, u16 b, u16 c, u16 d) {
  return pack2<u64, u32>(pack2<u32, u16>(a, b), pack2<u32, u16>(c, d));
}
template <class Whole, class Part, int index>
Part part(Whole a) {
  return Part(a >> (8 * sizeof(Part) * index));
}

// A register of 8 bits is stored in 16 bits.
u16 pack2_8(u16 a, u16 b) { return u16((a & 0xff) | b << 8); }
u32 pack4_8(u16 a, u16 b, u16 c, u16 d) { return pack2<u32, u16>(pack2_8(a, b), pack2_8(c, d)); }
template <class Whole, int index>
u16 part_8(Whole a) {
  return u16(a >> (8 * index) & 0xff);
}

__extension__ using u128 = unsigned __int128;

constexpr Rows<27> kMoveRows = {{
    row<copy<u16>>("mov.b16"),
    row<copy<u32>>("mov.b32"),
    row<copy<u64>>("mov.b64"),
    row<copy<u128>>("mov.b128"),
    row<copy<bool>>("mov.pred"),
    row<pack2_8>("mov.pack.b16.2"),
    row<pack4_8>("mov.pack.b32.4"),
    row<part_8<u16, 0>>("mov.part.b16.2.0"),
    row<part_8<u16, 1>>("mov.part.b16.2.1"),
    row<part_8<u32, 0>>("mov.part.b32.4.0"),
    row<part_8<u32, 1>>("mov.part.b32.4.1"),
    row<part_8<u32, 2>>("mov.part.b32.4.2"),
    row<part_8<u32, 3>>("mov.part.b32.4.3"),
    row<pack2<u32, u16>>("mov.pack.b32.2"),
    row<pack2<u64, u32>>("mov.pack.b64.2"),
    row<pack2<u128, u64>>("mov.pack.b128.2"),
    row<pack4>("mov.pack.b64.4"),
    row<part<u32, u16, 0>>("mov.part.b32.2.0"),
    row<part<u32, u16, 1>>("mov.part.b32.2.1"),
    row<part<u64, u32, 0>>("mov.part.b64.2.0"),
    row<part<u64, u32, 1>>("mov.part.b64.2.1"),
    row<part<u64, u16, 0>>("mov.part.b64.4.0"),
    row<part<u64, u16, 1>>("mov.part.b64.4.1"),
    row<part<u64, u16, 2>>("mov.part.b64.4.2"),
    row<part<u64, u16, 3>>("mov.part.b64.4.3"),
    row<part<u128, u64, 0>>("mov.part.b128.2.0"),
    row<part<u128, u64, 1>>("mov.part.b128.2.1"),
}};

}  // namespace

const OperationTable kMoveTable = table(kMoveRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
