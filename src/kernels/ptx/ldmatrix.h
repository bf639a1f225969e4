// Loads 8x8 matrices of 16-bit elements from shared memory in the layout of mma operands (sm_75).
// Each lane passes the address of one row of 16 bytes, 16-byte aligned: lanes 0-7 for the first
// matrix, 8-15 for the second, and so on. Lane l receives elements 2*(l%4) and 2*(l%4)+1 of row l/4
// (transposed: of column l/4), the first one in the lower half of the register.
//
// WHY inline assembly: libcu++ has no such function.
#pragma once

#include <cstdint>

#include "kernels/ptx/address.h"

namespace tessera::ptx {

// Loads one, two or four matrices.                                      PTX ISA: ldmatrix
__device__ inline void ldmatrix(std::uint32_t (&to)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(to[0])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix(std::uint32_t (&to)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix(std::uint32_t (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

// Like ldmatrix, with each matrix transposed.                           PTX ISA: ldmatrix.trans
__device__ inline void ldmatrix_transposed(std::uint32_t (&to)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(to[0])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix_transposed(std::uint32_t (&to)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix_transposed(std::uint32_t (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

}  // namespace tessera::ptx
