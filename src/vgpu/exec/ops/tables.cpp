// All operations of this instruction set.
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

const OperationTable* const kTables[] = {
    &kIntegerTable,    &kBitsTable,       &kFloatTable,          &kDirectedTable,
    &kCompareTable,    &kConvertTable,    &kConvertFloatTable,   &kCarryTable,
    &kHalfTable,       &kPackedTable,     &kMoveTable,           &kLoadTable,
    &kStoreTable,      &kAtomicTable,     &kCollectiveTable,     &kMatrixTable,
    &kMatrixMoveTable, &kMatrixQuadTable, &kMatrixTransferTable, &kWgmmaTable,
    nullptr,
};

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
