// All operations of this instruction set.
#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

const OperationTable* const kTables[] = {
    &kIntegerTable, &kBitsTable, &kFloatTable, &kDirectedTable, &kCompareTable,
    &kConvertTable, &kMoveTable, &kLoadTable,  &kStoreTable,    nullptr,
};

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
