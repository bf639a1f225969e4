// The table of extended-precision arithmetic: sums and differences with carry. The decoder uses
// "carry.add.b32" for the result and "carry.add.out.b32" for the carry out.
#include "vgpu/exec/ops/carry.h"

#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

constexpr Rows<8> kRows = {{
    row<add_with<u32>>("carry.add.b32"),
    row<carry_of_add<u32>>("carry.add.out.b32"),
    row<sub_with<u32>>("carry.sub.b32"),
    row<borrow_of_sub<u32>>("carry.sub.out.b32"),
    row<add_with<u64>>("carry.add.b64"),
    row<carry_of_add<u64>>("carry.add.out.b64"),
    row<sub_with<u64>>("carry.sub.b64"),
    row<borrow_of_sub<u64>>("carry.sub.out.b64"),
}};

}  // namespace

const OperationTable kCarryTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
