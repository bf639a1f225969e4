// Tensor maps of canonical operands: which operands TMA can load, and the contents of their maps.
// Functions that take a config row are for FP32 kernels.
#pragma once

#include "gemm/families/shared/family.h"

namespace tessera::gemm {

// HW: coordinates of tensor copies are signed 32-bit (PTX ISA, cp.async.bulk.tensor).
inline constexpr long long kMaxCoordinate = 0x7fffffff;

// The map, without an address, of `outer` rows of `inner` adjacent elements. Rows
// are `stride` elements apart.
TensorMapDesc tensor_map_of(TensorType type, long long inner, long long outer, long long stride,
                            TensorBox box);

// The maps of A and B for the boxes of a config row, without addresses.
TensorMapDesc map_of_a(const KernelRow& row, const GemmParams& canonical);
TensorMapDesc map_of_b(const KernelRow& row, const GemmParams& canonical);

// Whether this map is legal for an operand whose address is a multiple of `alignment` bytes.
bool can_be_mapped(TensorMapDesc desc, int alignment);

// Whether TMA can load the operands that this config row loads by TMA.
bool can_load(const KernelRow& row, const Request& request);

// The first row of a variant whose majors and loads suit the operands; null if none does.
const KernelRow* row_of_loads(const Variant& variant, const Request& request);

// Adds the maps of the operands that the row loads by TMA, at these byte offsets of the parameters.
void add_maps(Step& step, const KernelRow& row, const Product& product, std::size_t a_offset,
              std::size_t b_offset);

}  // namespace tessera::gemm
