// Each family of operations has a table. To add one, declare it here and list it in tables.cpp.
#pragma once

#include "vgpu/program/isa.h"
#include "vgpu/program/operation.h"

// Operations that are rare in matrix kernels are compiled for AVX2 only; both sets use them.
namespace tessera::vgpu::avx2 {

extern const OperationTable kBitsTable;
extern const OperationTable kDirectedTable;
extern const OperationTable kCompareTable;
extern const OperationTable kConvertTable;
extern const OperationTable kConvertFloatTable;
extern const OperationTable kCarryTable;
extern const OperationTable kHalfTable;
extern const OperationTable kEightBitsTable;
extern const OperationTable kPackedTable;
extern const OperationTable kAtomicTable;

}  // namespace tessera::vgpu::avx2

namespace tessera::vgpu::TESSERA_VGPU_ISA {

extern const OperationTable kIntegerTable;
extern const OperationTable kFloatTable;
extern const OperationTable kMoveTable;
extern const OperationTable kLoadTable;
extern const OperationTable kStoreTable;
extern const OperationTable kCollectiveTable;
extern const OperationTable kMatrixTable;
extern const OperationTable kMatrixMoveTable;
extern const OperationTable kMatrixQuadTable;
extern const OperationTable kMatrixTransferTable;
extern const OperationTable kWgmmaTable;

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
