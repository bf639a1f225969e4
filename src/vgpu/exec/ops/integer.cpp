// Integer arithmetic: add, sub, mul, mad, div, rem, min, max, abs, neg, sad.
#include "vgpu/exec/ops/integer.h"

#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

constexpr Rows<30> kSums = {{
    row<add<u16>>("add.u16"),      row<add<u16>>("add.s16"),      row<add<u32>>("add.u32"),
    row<add<u32>>("add.s32"),      row<add<u64>>("add.u64"),      row<add<u64>>("add.s64"),
    row<sub<u16>>("sub.u16"),      row<sub<u16>>("sub.s16"),      row<sub<u32>>("sub.u32"),
    row<sub<u32>>("sub.s32"),      row<sub<u64>>("sub.u64"),      row<sub<u64>>("sub.s64"),
    row<add_sat>("add.s32", kSat), row<sub_sat>("sub.s32", kSat), row<neg<u16>>("neg.s16"),
    row<neg<u32>>("neg.s32"),      row<neg<u64>>("neg.s64"),      row<abs<s16>>("abs.s16"),
    row<abs<s32>>("abs.s32"),      row<abs<s64>>("abs.s64"),      row<sad<u16>>("sad.u16"),
    row<sad<s16>>("sad.s16"),      row<sad<u32>>("sad.u32"),      row<sad<s32>>("sad.s32"),
    row<sad<u64>>("sad.u64"),      row<sad<s64>>("sad.s64"),      row<min<u16>>("min.u16"),
    row<min<s16>>("min.s16"),      row<max<u16>>("max.u16"),      row<max<s16>>("max.s16"),
}};

constexpr Rows<8> kOrder = {{
    row<min<u32>>("min.u32"),
    row<min<s32>>("min.s32"),
    row<min<u64>>("min.u64"),
    row<min<s64>>("min.s64"),
    row<max<u32>>("max.u32"),
    row<max<s32>>("max.s32"),
    row<max<u64>>("max.u64"),
    row<max<s64>>("max.s64"),
}};

constexpr Rows<16> kProducts = {{
    row<mul_lo<u16>>("mul.lo.u16"),
    row<mul_lo<u16>>("mul.lo.s16"),
    row<mul_lo<u32>>("mul.lo.u32"),
    row<mul_lo<u32>>("mul.lo.s32"),
    row<mul_lo<u64>>("mul.lo.u64"),
    row<mul_lo<u64>>("mul.lo.s64"),
    row<mul_hi<u16>>("mul.hi.u16"),
    row<mul_hi<s16>>("mul.hi.s16"),
    row<mul_hi<u32>>("mul.hi.u32"),
    row<mul_hi<s32>>("mul.hi.s32"),
    row<mul_hi<u64>>("mul.hi.u64"),
    row<mul_hi<s64>>("mul.hi.s64"),
    row<mul_wide<u16>>("mul.wide.u16"),
    row<mul_wide<s16>>("mul.wide.s16"),
    row<mul_wide<u32>>("mul.wide.u32"),
    row<mul_wide<s32>>("mul.wide.s32"),
}};

constexpr Rows<17> kMultiplyAdds = {{
    row<mad_lo<u16>>("mad.lo.u16"),
    row<mad_lo<u16>>("mad.lo.s16"),
    row<mad_lo<u32>>("mad.lo.u32"),
    row<mad_lo<u32>>("mad.lo.s32"),
    row<mad_lo<u64>>("mad.lo.u64"),
    row<mad_lo<u64>>("mad.lo.s64"),
    row<mad_hi<u16>>("mad.hi.u16"),
    row<mad_hi<s16>>("mad.hi.s16"),
    row<mad_hi<u32>>("mad.hi.u32"),
    row<mad_hi<s32>>("mad.hi.s32"),
    row<mad_hi<u64>>("mad.hi.u64"),
    row<mad_hi<s64>>("mad.hi.s64"),
    row<mad_wide<u16>>("mad.wide.u16"),
    row<mad_wide<s16>>("mad.wide.s16"),
    row<mad_wide<u32>>("mad.wide.u32"),
    row<mad_wide<s32>>("mad.wide.s32"),
    row<mad_hi_sat32>("mad.hi.s32", kSat),
}};

constexpr Rows<8> kProducts24 = {{
    row<mul24_lo<u32>>("mul24.lo.u32"),
    row<mul24_lo<s32>>("mul24.lo.s32"),
    row<mul24_hi<u32>>("mul24.hi.u32"),
    row<mul24_hi<s32>>("mul24.hi.s32"),
    row<mad24_lo<u32>>("mad24.lo.u32"),
    row<mad24_lo<s32>>("mad24.lo.s32"),
    row<mad24_hi<u32>>("mad24.hi.u32"),
    row<mad24_hi<s32>>("mad24.hi.s32"),
}};

constexpr Rows<12> kQuotients = {{
    row<div<u16>>("div.u16"),
    row<div<s16>>("div.s16"),
    row<div<u32>>("div.u32"),
    row<div<s32>>("div.s32"),
    row<div<u64>>("div.u64"),
    row<div<s64>>("div.s64"),
    row<rem<u16>>("rem.u16"),
    row<rem<s16>>("rem.s16"),
    row<rem<u32>>("rem.u32"),
    row<rem<s32>>("rem.s32"),
    row<rem<u64>>("rem.u64"),
    row<rem<s64>>("rem.s64"),
}};

constexpr auto kRows = kSums + kOrder + kProducts + kMultiplyAdds + kProducts24 + kQuotients;

}  // namespace

const OperationTable kIntegerTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
