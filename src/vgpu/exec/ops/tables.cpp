// The tables of all operations of this instruction set.
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

const OperationTable* const kTables[] = {
    &kIntegerTable,
    &avx2::kBitsTable,
    &kFloatTable,
    &avx2::kDirectedTable,
    &avx2::kCompareTable,
    &avx2::kConvertTable,
    &avx2::kConvertFloatTable,
    &avx2::kCarryTable,
    &avx2::kHalfTable,
    &avx2::kEightBitsTable,
    &avx2::kPackedTable,
    &kMoveTable,
    &kLoadTable,
    &kStoreTable,
    &avx2::kAtomicTable,
    &kCollectiveTable,
    &kMatrixTable,
    &kMatrixMoveTable,
    &kMatrixQuadTable,
    &kMatrixTransferTable,
    &kWgmmaTable,
    nullptr,
};

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
