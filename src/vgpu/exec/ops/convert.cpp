// cvt.
#include "vgpu/exec/ops/float.h"
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {
template <class R, class T>
R convert(T a) {
  return R(a);
}
constexpr Rows<4> kRows = {{
    row<convert<s64, s32>>("cvt.s64.s32"),
    row<convert<u32, u64>>("cvt.u32.u64"),
    row<convert<u64, u32>>("cvt.u64.u32"),
    row<convert<float, double>>("cvt.f32.f64"),
}};
}  // namespace

const OperationTable kConvertTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
