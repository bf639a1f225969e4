// ld: loads one, two or four registers per lane from memory. A narrow value is extended to the
// width of its register.
#include "vgpu/exec/ops/memory/access.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// Converts `count` adjacent values of type M per lane to registers of type R.
template <class M, class R, int count>
struct Loaded {
  alignas(64) R values[count][kLanes];

  void fetch(Shape shape, const Access& access) {
    if (shape == Shape::kHalves) {
      for (int h = 0; h < 2; ++h) fetch_half(h * kHalf, access.base[h], access.steps[h]);
    } else {
      for (int l = 0; l < kLanes; ++l) {
        const M* cells = reinterpret_cast<const M*>(access.lane[l]);
        for (int i = 0; i < count; ++i) values[i][l] = R(cells[i]);
      }
    }
  }

  void fetch_half(int first, const std::byte* base, bool steps) {
    const M* cells = reinterpret_cast<const M*>(base);
    if (steps) {
      for (int l = 0; l < kHalf; ++l) {
        for (int i = 0; i < count; ++i) values[i][first + l] = R(cells[l * count + i]);
      }
    } else {
      for (int i = 0; i < count; ++i) {
        const R value = R(cells[i]);
        for (int l = 0; l < kHalf; ++l) values[i][first + l] = value;
      }
    }
  }
};

template <class T>
inline void keep(Lanes& lanes, u32 offset, const T* values) {
  T* to = lanes_of<T>(lanes, offset);
  if (lanes.mask == kAllLanes) {
    for (int l = 0; l < kLanes; ++l) to[l] = values[l];
  } else {
    blend(to, values, lanes.mask);
  }
}

template <class M, class R, int count>
void load(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    Access access;
    const Shape shape =
        resolve<AccessKind::kLoad, sizeof(M) * count>(lanes, *first, first->operand[count], access);
    Loaded<M, R, count> loaded;
    loaded.fetch(shape, access);
    for (int i = 0; i < count; ++i) keep(lanes, first->operand[i], loaded.values[i]);
  }
}

template <class M, class R, int count>
constexpr Operation load_row(const char* name) {
  Signature signature = {count, count + 1, {}};
  for (int i = 0; i < count; ++i) signature.operand[i] = scalar_of<R>();
  signature.operand[count] = Scalar::k64;
  return {name, kDefault, load<M, R, count>, signature};
}

// The decoder looks up "ld.<memory type>.<register bits>", "ld.v2..." and "ld.v4...".
template <int count>
constexpr Rows<15> loads(const char* const (&names)[15]) {
  return {{load_row<u8, u16, count>(names[0]), load_row<u8, u32, count>(names[1]),
           load_row<u8, u64, count>(names[2]), load_row<s8, u16, count>(names[3]),
           load_row<s8, u32, count>(names[4]), load_row<s8, u64, count>(names[5]),
           load_row<u16, u16, count>(names[6]), load_row<u16, u32, count>(names[7]),
           load_row<u16, u64, count>(names[8]), load_row<s16, u32, count>(names[9]),
           load_row<s16, u64, count>(names[10]), load_row<u32, u32, count>(names[11]),
           load_row<u32, u64, count>(names[12]), load_row<s32, u64, count>(names[13]),
           load_row<u64, u64, count>(names[14])}};
}

constexpr auto kLoadRows =
    loads<1>({"ld.u8.16", "ld.u8.32", "ld.u8.64", "ld.s8.16", "ld.s8.32", "ld.s8.64", "ld.u16.16",
              "ld.u16.32", "ld.u16.64", "ld.s16.32", "ld.s16.64", "ld.u32.32", "ld.u32.64",
              "ld.s32.64", "ld.u64.64"}) +
    loads<2>({"ld.v2.u8.16", "ld.v2.u8.32", "ld.v2.u8.64", "ld.v2.s8.16", "ld.v2.s8.32",
              "ld.v2.s8.64", "ld.v2.u16.16", "ld.v2.u16.32", "ld.v2.u16.64", "ld.v2.s16.32",
              "ld.v2.s16.64", "ld.v2.u32.32", "ld.v2.u32.64", "ld.v2.s32.64", "ld.v2.u64.64"}) +
    loads<4>({"ld.v4.u8.16", "ld.v4.u8.32", "ld.v4.u8.64", "ld.v4.s8.16", "ld.v4.s8.32",
              "ld.v4.s8.64", "ld.v4.u16.16", "ld.v4.u16.32", "ld.v4.u16.64", "ld.v4.s16.32",
              "ld.v4.s16.64", "ld.v4.u32.32", "ld.v4.u32.64", "ld.v4.s32.64", "ld.v4.u64.64"});

}  // namespace

const OperationTable kLoadTable = table(kLoadRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
