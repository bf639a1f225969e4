// The table of logic, shift and bit field operations.
#include "vgpu/exec/ops/bits.h"

#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

constexpr Rows<19> kLogic = {{
    row<bit_and<u16>>("and.b16"), row<bit_and<u32>>("and.b32"), row<bit_and<u64>>("and.b64"),
    row<pred_and>("and.pred"),    row<bit_or<u16>>("or.b16"),   row<bit_or<u32>>("or.b32"),
    row<bit_or<u64>>("or.b64"),   row<pred_or>("or.pred"),      row<bit_xor<u16>>("xor.b16"),
    row<bit_xor<u32>>("xor.b32"), row<bit_xor<u64>>("xor.b64"), row<pred_xor>("xor.pred"),
    row<bit_not<u16>>("not.b16"), row<bit_not<u32>>("not.b32"), row<bit_not<u64>>("not.b64"),
    row<pred_not>("not.pred"),    row<cnot<u16>>("cnot.b16"),   row<cnot<u32>>("cnot.b32"),
    row<cnot<u64>>("cnot.b64"),
}};

constexpr Rows<16> kShifts = {{
    row<shl<u16>>("shl.b16"),
    row<shl<u32>>("shl.b32"),
    row<shl<u64>>("shl.b64"),
    row<shr<u16>>("shr.u16"),
    row<shr<u32>>("shr.u32"),
    row<shr<u64>>("shr.u64"),
    row<shr<u16>>("shr.b16"),
    row<shr<u32>>("shr.b32"),
    row<shr<u64>>("shr.b64"),
    row<shr<s16>>("shr.s16"),
    row<shr<s32>>("shr.s32"),
    row<shr<s64>>("shr.s64"),
    row<shf_l_clamp>("shf.l.clamp.b32"),
    row<shf_r_clamp>("shf.r.clamp.b32"),
    row<shf_l_wrap>("shf.l.wrap.b32"),
    row<shf_r_wrap>("shf.r.wrap.b32"),
}};

constexpr Rows<18> kScans = {{
    row<popc32>("popc.b32"),
    row<popc64>("popc.b64"),
    row<clz32>("clz.b32"),
    row<clz64>("clz.b64"),
    row<brev32>("brev.b32"),
    row<brev64>("brev.b64"),
    row<bfind<u32>>("bfind.u32"),
    row<bfind<s32>>("bfind.s32"),
    row<bfind<u64>>("bfind.u64"),
    row<bfind<s64>>("bfind.s64"),
    row<bfind_shift<u32>>("bfind.shiftamt.u32"),
    row<bfind_shift<s32>>("bfind.shiftamt.s32"),
    row<bfind_shift<u64>>("bfind.shiftamt.u64"),
    row<bfind_shift<s64>>("bfind.shiftamt.s64"),
    row<fns>("fns.b32"),
    row<bmsk_clamp>("bmsk.clamp.b32"),
    row<bmsk_wrap>("bmsk.wrap.b32"),
    row<lop3>("lop3.b32"),
}};

constexpr Rows<17> kFields = {{
    row<bfe<u32>>("bfe.u32"),
    row<bfe<s32>>("bfe.s32"),
    row<bfe<u64>>("bfe.u64"),
    row<bfe<s64>>("bfe.s64"),
    row<bfi<u32>>("bfi.b32"),
    row<bfi<u64>>("bfi.b64"),
    row<szext_clamp<u32>>("szext.clamp.u32"),
    row<szext_clamp<s32>>("szext.clamp.s32"),
    row<szext_wrap<u32>>("szext.wrap.u32"),
    row<szext_wrap<s32>>("szext.wrap.s32"),
    row<prmt>("prmt.b32"),
    row<prmt_f4e>("prmt.b32.f4e"),
    row<prmt_b4e>("prmt.b32.b4e"),
    row<prmt_rc8>("prmt.b32.rc8"),
    row<prmt_ecl>("prmt.b32.ecl"),
    row<prmt_ecr>("prmt.b32.ecr"),
    row<prmt_rc16>("prmt.b32.rc16"),
}};

constexpr Rows<12> kDots = {{
    row<dp4a<u8, u8, u32>>("dp4a.u32.u32"),
    row<dp4a<u8, s8, s32>>("dp4a.u32.s32"),
    row<dp4a<s8, u8, s32>>("dp4a.s32.u32"),
    row<dp4a<s8, s8, s32>>("dp4a.s32.s32"),
    row<dp2a<u16, u8, u32, 0>>("dp2a.lo.u32.u32"),
    row<dp2a<u16, s8, s32, 0>>("dp2a.lo.u32.s32"),
    row<dp2a<s16, u8, s32, 0>>("dp2a.lo.s32.u32"),
    row<dp2a<s16, s8, s32, 0>>("dp2a.lo.s32.s32"),
    row<dp2a<u16, u8, u32, 1>>("dp2a.hi.u32.u32"),
    row<dp2a<u16, s8, s32, 1>>("dp2a.hi.u32.s32"),
    row<dp2a<s16, u8, s32, 1>>("dp2a.hi.s32.u32"),
    row<dp2a<s16, s8, s32, 1>>("dp2a.hi.s32.s32"),
}};

constexpr auto kRows = kLogic + kShifts + kScans + kFields + kDots;

}  // namespace

const OperationTable kBitsTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
