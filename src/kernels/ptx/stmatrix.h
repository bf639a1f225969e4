// Stores 8x8 matrices of 16-bit elements from the layout of mma results to shared memory (sm_90):
// the reverse of ldmatrix, with row addresses from the same lanes.
//
// WHY inline assembly: libcu++ has no such function.
#pragma once

#include <cstdint>

#include "kernels/ptx/address.h"

namespace tessera::ptx {

// Stores one, two or four matrices.                                     PTX ISA: stmatrix
__device__ inline void stmatrix(void* row, const std::uint32_t (&from)[1]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
               :
               : "r"(shared_address(row)), "r"(from[0])
               : "memory");
}
__device__ inline void stmatrix(void* row, const std::uint32_t (&from)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
               :
               : "r"(shared_address(row)), "r"(from[0]), "r"(from[1])
               : "memory");
}
__device__ inline void stmatrix(void* row, const std::uint32_t (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :
               : "r"(shared_address(row)), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

// Like stmatrix, with each matrix transposed.                           PTX ISA: stmatrix.trans
__device__ inline void stmatrix_transposed(void* row, const std::uint32_t (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
               :
               : "r"(shared_address(row)), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

}  // namespace tessera::ptx
