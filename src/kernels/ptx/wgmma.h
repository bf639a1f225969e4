// Tensor cores, one warpgroup (four warps) at a time and asynchronously (sm_90a):
//   d (64 x n) += a (64 x k) * b (k x n)
// B is always in shared memory, A in shared memory or in registers. Register i of d in thread t
// of the warpgroup holds row 16 * (t / 32) + t % 32 / 4 + 8 * (i / 2 % 2) and column
// 8 * (i / 4) + 2 * (t % 4) + i % 2.
//
// Between wgmma_fence() and the wgmma_wait_group() that covers an instruction, no thread may access
// its d, its A in registers or its tiles in shared memory.
//
// WHY inline assembly: libcu++ has no such functions. Types and majors are text (constraint "C").
#pragma once

#include <cstdint>

#include "kernels/ptx/matrix_type.h"

namespace tessera::ptx {

// Needed before the first wgmma, and after accesses to its registers.   PTX ISA: wgmma.fence
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Closes the current group of wgmma.                             PTX ISA: wgmma.commit_group
__device__ inline void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most the newest kPending groups are unfinished. PTX ISA: wgmma.wait_group
template <int kPending>
__device__ inline void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(kPending) : "memory");
}

// Keeps the compiler from moving accesses to these registers across this line, because it does not
// know that wgmma is asynchronous. To be called before wgmma_fence() and after
// wgmma_wait_group().
template <int n>
__device__ inline void pin(float (&registers)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}
template <int n>
__device__ inline void pin(std::uint32_t (&registers)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}
template <int n>
__device__ inline void pin(std::int32_t (&registers)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}

enum class Major { kK, kMn };  // which index of an operand is contiguous

// The k of one instruction, in elements: 32 bytes.
template <MatrixType type>
inline constexpr int kWgmmaK = 256 / bits_of(type);

template <int k>
struct WgmmaK;
template <>
struct WgmmaK<8> {
  static constexpr char text[] = "k8";
};
template <>
struct WgmmaK<16> {
  static constexpr char text[] = "k16";
};
template <>
struct WgmmaK<32> {
  static constexpr char text[] = "k32";
};

// The text of the last operands: majors. Only 16-bit types may be read MN-major (not along k).
template <bool allowed, Major... majors>
struct WgmmaMajors;
template <Major a, Major b>
struct WgmmaMajors<true, a, b> {
  static constexpr char text[] = {
      ',', ' ', a == Major::kMn ? '1' : '0', ',', ' ', b == Major::kMn ? '1' : '0', '\0'};
};
template <Major b>
struct WgmmaMajors<true, b> {
  static constexpr char text[] = {',', ' ', b == Major::kMn ? '1' : '0', '\0'};
};
template <Major... majors>
struct WgmmaMajors<false, majors...> {
  static_assert(((majors == Major::kK) && ...), "only 16-bit types may be read MN-major");
  static constexpr char text[] = "";
};

// The instruction names each of its registers, so there is one wrapper per N: WgmmaOf<N> in
// kernels/ptx/wgmma_n<N>.h, which tools/build/generate_wgmma.py writes.
template <int n>
struct WgmmaOf;

// Multiplies A and B from shared memory, by their descriptors. Without `accumulate`, overwrites d.
// The number of accumulators determines N.                           PTX ISA: wgmma.mma_async
template <MatrixType type, Major a_major = Major::kK, Major b_major = Major::kK, int count>
__device__ inline void wgmma(float (&d)[count], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WgmmaOf<2 * count>::template run<type, a_major, b_major>(d, a, b, accumulate);
}
// Like the function above, with two f16 accumulators per register.
template <MatrixType type, Major a_major = Major::kK, Major b_major = Major::kK, int count>
__device__ inline void wgmma(std::uint32_t (&d)[count], std::uint64_t a, std::uint64_t b,
                             bool accumulate) {
  WgmmaOf<4 * count>::template run<type, a_major, b_major>(d, a, b, accumulate);
}
template <MatrixType a_type, MatrixType b_type, int count>
__device__ inline void wgmma(std::int32_t (&d)[count], std::uint64_t a, std::uint64_t b,
                             bool accumulate) {
  WgmmaOf<2 * count>::template run<a_type, b_type>(d, a, b, accumulate);
}
// Multiplies 8-bit integers of one type. HW: wgmma reads bytes only along k.
template <MatrixType type, Major a_major, Major b_major, int count>
__device__ inline void wgmma(std::int32_t (&d)[count], std::uint64_t a, std::uint64_t b,
                             bool accumulate) {
  static_assert(a_major == Major::kK && b_major == Major::kK);
  WgmmaOf<2 * count>::template run<type, type>(d, a, b, accumulate);
}

// Multiplies A from registers, in the layout of mma.m16n8k16 (16 rows per warp).
template <MatrixType type, Major b_major = Major::kK, int count>
__device__ inline void wgmma(float (&d)[count], const std::uint32_t (&a)[4], std::uint64_t b,
                             bool accumulate) {
  WgmmaOf<2 * count>::template run<type, b_major>(d, a, b, accumulate);
}
template <MatrixType type, Major b_major = Major::kK, int count>
__device__ inline void wgmma(std::uint32_t (&d)[count], const std::uint32_t (&a)[4],
                             std::uint64_t b, bool accumulate) {
  WgmmaOf<4 * count>::template run<type, b_major>(d, a, b, accumulate);
}
template <MatrixType a_type, MatrixType b_type, int count>
__device__ inline void wgmma(std::int32_t (&d)[count], const std::uint32_t (&a)[4], std::uint64_t b,
                             bool accumulate) {
  WgmmaOf<2 * count>::template run<a_type, b_type>(d, a, b, accumulate);
}

}  // namespace tessera::ptx
