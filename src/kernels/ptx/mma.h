// Tensor cores, one warp at a time: d += a * b on tiles m x n x k, A row-major, B column-major. The
// elements of a lane, register by register, with g = lane / 4 and t = lane % 4; a register holds
// two neighbouring 16-bit elements, the one that is named here in the lower half.
//   m16n8k16, 16 bit  a[m, k]: (g, 2t) (g+8, 2t) (g, 2t+8) (g+8, 2t+8)
//                     b[k, n]: (2t, g) (2t+8, g)
//   m16n8k8, tf32     a: (g, t) (g+8, t) (g, t+4) (g+8, t+4)   b: (t, g) (t+4, g)
//   d of both, f32    d[m, n]: (g, 2t) (g, 2t+1) (g+8, 2t) (g+8, 2t+1)
//   m8n8k4, f64       a: (g, t)   b: (t, g)   d: (g, 2t) (g, 2t+1)
//
// WHY inline assembly: libcu++ has no such functions.
#pragma once

#include <cstdint>

#include "kernels/ptx/matrix_type.h"

namespace tessera::ptx {

// Multiplies 16-bit elements and accumulates in f32.                    PTX ISA: mma.m16n8k16
template <MatrixType type>
__device__ inline void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
  static_assert(bits_of(type) == 16);
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.%10.%10.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
        "C"(MatrixTypeName<type>::text));
}

// Multiplies f16 and accumulates in f16, with two results per register.
__device__ inline void mma_m16n8k16_f16(std::uint32_t (&d)[2], const std::uint32_t (&a)[4],
                                        const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Rounds an f32 to the nearest tf32, ties away from zero.                PTX ISA: cvt.rna.tf32
__device__ inline std::uint32_t to_tf32(std::uint32_t f32_bits) {
  std::uint32_t tf32;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf32) : "f"(__uint_as_float(f32_bits)));
  return tf32;
}

// Multiplies tf32 elements (f32 bits, the low 13 ignored).              PTX ISA: mma.m16n8k8
__device__ inline void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4],
                                        const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Multiplies f64 on sm_80.                                              PTX ISA: mma.m8n8k4
__device__ inline void mma_m8n8k4(double (&d)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
}

// Multiplies f64 on sm_90; A's rows are g, g+8; registers step k by 4.  PTX ISA: mma.m16n8k4 .. k16
__device__ inline void mma_m16n8k4(double (&d)[4], const double (&a)[2], double b) {
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
}
__device__ inline void mma_m16n8k8(double (&d)[4], const double (&a)[4], const double (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
__device__ inline void mma_m16n8k16(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

}  // namespace tessera::ptx
