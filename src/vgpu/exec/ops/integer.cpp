// The table of integer arithmetic: add, sub, mul, mad, div, rem, min, max, abs, neg, sad.
#include "vgpu/exec/ops/integer.h"

#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// The rows of an instruction for one width, unsigned and signed. If the sign does not matter, both
// rows have one function.
template <auto of_unsigned, auto of_signed = of_unsigned>
constexpr Rows<2> pair(const char* unsigned_name, const char* signed_name) {
  return {{row<of_unsigned>(unsigned_name), row<of_signed>(signed_name)}};
}

constexpr auto kSums = pair<add<u16>>("add.u16", "add.s16") + pair<add<u32>>("add.u32", "add.s32") +
                       pair<add<u64>>("add.u64", "add.s64") + pair<sub<u16>>("sub.u16", "sub.s16") +
                       pair<sub<u32>>("sub.u32", "sub.s32") + pair<sub<u64>>("sub.u64", "sub.s64") +
                       pair<sad<u16>, sad<s16>>("sad.u16", "sad.s16") +
                       pair<sad<u32>, sad<s32>>("sad.u32", "sad.s32") +
                       pair<sad<u64>, sad<s64>>("sad.u64", "sad.s64") +
                       Rows<2>{{row<add_sat>("add.s32", kSat), row<sub_sat>("sub.s32", kSat)}};

constexpr auto kOrder =
    Rows<3>{{row<neg<u16>>("neg.s16"), row<neg<u32>>("neg.s32"), row<neg<u64>>("neg.s64")}} +
    Rows<3>{{row<abs<s16>>("abs.s16"), row<abs<s32>>("abs.s32"), row<abs<s64>>("abs.s64")}} +
    pair<min<u16>, min<s16>>("min.u16", "min.s16") +
    pair<min<u32>, min<s32>>("min.u32", "min.s32") +
    pair<min<u64>, min<s64>>("min.u64", "min.s64") +
    pair<max<u16>, max<s16>>("max.u16", "max.s16") +
    pair<max<u32>, max<s32>>("max.u32", "max.s32") + pair<max<u64>, max<s64>>("max.u64", "max.s64");

constexpr auto kProducts = pair<mul_lo<u16>>("mul.lo.u16", "mul.lo.s16") +
                           pair<mul_lo<u32>>("mul.lo.u32", "mul.lo.s32") +
                           pair<mul_lo<u64>>("mul.lo.u64", "mul.lo.s64") +
                           pair<mul_hi<u16>, mul_hi<s16>>("mul.hi.u16", "mul.hi.s16") +
                           pair<mul_hi<u32>, mul_hi<s32>>("mul.hi.u32", "mul.hi.s32") +
                           pair<mul_hi<u64>, mul_hi<s64>>("mul.hi.u64", "mul.hi.s64") +
                           pair<mul_wide<u16>, mul_wide<s16>>("mul.wide.u16", "mul.wide.s16") +
                           pair<mul_wide<u32>, mul_wide<s32>>("mul.wide.u32", "mul.wide.s32");

constexpr auto kMultiplyAdds = pair<mad_lo<u16>>("mad.lo.u16", "mad.lo.s16") +
                               pair<mad_lo<u32>>("mad.lo.u32", "mad.lo.s32") +
                               pair<mad_lo<u64>>("mad.lo.u64", "mad.lo.s64") +
                               pair<mad_hi<u16>, mad_hi<s16>>("mad.hi.u16", "mad.hi.s16") +
                               pair<mad_hi<u32>, mad_hi<s32>>("mad.hi.u32", "mad.hi.s32") +
                               pair<mad_hi<u64>, mad_hi<s64>>("mad.hi.u64", "mad.hi.s64") +
                               pair<mad_wide<u16>, mad_wide<s16>>("mad.wide.u16", "mad.wide.s16") +
                               pair<mad_wide<u32>, mad_wide<s32>>("mad.wide.u32", "mad.wide.s32") +
                               Rows<1>{{row<mad_hi_sat32>("mad.hi.s32", kSat)}};

constexpr auto kProducts24 = pair<mul24_lo<u32>, mul24_lo<s32>>("mul24.lo.u32", "mul24.lo.s32") +
                             pair<mul24_hi<u32>, mul24_hi<s32>>("mul24.hi.u32", "mul24.hi.s32") +
                             pair<mad24_lo<u32>, mad24_lo<s32>>("mad24.lo.u32", "mad24.lo.s32") +
                             pair<mad24_hi<u32>, mad24_hi<s32>>("mad24.hi.u32", "mad24.hi.s32");

constexpr auto kQuotients = pair<div<u16>, div<s16>>("div.u16", "div.s16") +
                            pair<div<u32>, div<s32>>("div.u32", "div.s32") +
                            pair<div<u64>, div<s64>>("div.u64", "div.s64") +
                            pair<rem<u16>, rem<s16>>("rem.u16", "rem.s16") +
                            pair<rem<u32>, rem<s32>>("rem.u32", "rem.s32") +
                            pair<rem<u64>, rem<s64>>("rem.u64", "rem.s64");

constexpr auto kIntegerRows = kSums + kOrder + kProducts + kMultiplyAdds + kProducts24 + kQuotients;

}  // namespace

const OperationTable kIntegerTable = table(kIntegerRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
