// Tensor cores, a warpgroup (four warps) at a time and asynchronously (sm_90a):
//   d (64 x n) += a (64 x k) * b (k x n)
// B is always read from shared memory, A from there or from registers. Register i of d in thread t
// of the warpgroup holds row 16 * (t / 32) + t % 32 / 4 + 8 * (i / 2 % 2) and column
// 8 * (i / 4) + 2 * (t % 4) + i % 2.
//
// Between wgmma_fence() and the wgmma_wait_group() that covers an instruction, nobody may touch its
// d, its A in registers or its tiles in shared memory.
//
// Own assembly: libcu++ has no such functions. The instruction names each of its registers, so the
// lists are as long as they are; types and majors come in as text (constraint "C").
#pragma once

#include <cstdint>

#include "kernels/ptx/matrix_type.h"

namespace tessera::ptx {

// Before the first wgmma, and whenever registers of one were touched.   PTX ISA: wgmma.fence
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Closes the group of the wgmma so far.                          PTX ISA: wgmma.commit_group
__device__ inline void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most the newest kPending groups are unfinished. PTX ISA: wgmma.wait_group
template <int kPending>
__device__ inline void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(kPending) : "memory");
}

// Reads and writes of these registers stay on their side of this line: the compiler does not know
// that wgmma goes on behind its back. To be called before wgmma_fence() and after
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

enum class Major { kK, kMn };  // which index of an operand is contiguous

// Elements of k in one instruction: 32 bytes.
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

// The last operands: only 16-bit types may be read with k not contiguous.
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

// A and B from shared memory, by their descriptors. Without `accumulate` d is written anew. The
// number of accumulators says which n is meant: 64, 128 or 256.          PTX ISA: wgmma.mma_async
template <MatrixType type, Major a_major = Major::kK, Major b_major = Major::kK>
__device__ inline void wgmma(float (&d)[32], std::uint64_t a, std::uint64_t b, bool accumulate) {
  asm volatile(
      "{\n\t.reg .pred accumulate;\n\t"
      "setp.ne.b32 accumulate, %34, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n64%35.f32.%36.%36\n\t"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n\t"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31},\n\t"
      "%32, %33, accumulate, 1, 1%37;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "C"(WgmmaK<kWgmmaK<type>>::text),
        "C"(MatrixTypeName<type>::text),
        "C"(WgmmaMajors<bits_of(type) == 16, a_major, b_major>::text));
}

template <MatrixType type, Major a_major = Major::kK, Major b_major = Major::kK>
__device__ inline void wgmma(float (&d)[64], std::uint64_t a, std::uint64_t b, bool accumulate) {
  asm volatile(
      "{\n\t.reg .pred accumulate;\n\t"
      "setp.ne.b32 accumulate, %66, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n128%67.f32.%68.%68\n\t"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n\t"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,\n\t"
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,\n\t"
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63},\n\t"
      "%64, %65, accumulate, 1, 1%69;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "C"(WgmmaK<kWgmmaK<type>>::text),
        "C"(MatrixTypeName<type>::text),
        "C"(WgmmaMajors<bits_of(type) == 16, a_major, b_major>::text));
}

template <MatrixType type, Major a_major = Major::kK, Major b_major = Major::kK>
__device__ inline void wgmma(float (&d)[128], std::uint64_t a, std::uint64_t b, bool accumulate) {
  asm volatile(
      "{\n\t.reg .pred accumulate;\n\t"
      "setp.ne.b32 accumulate, %130, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n256%131.f32.%132.%132\n\t"
      "{%0, %1, %2, %3, %4, %5, %6, %7,\n\t"
      " %8, %9, %10, %11, %12, %13, %14, %15,\n\t"
      " %16, %17, %18, %19, %20, %21, %22, %23,\n\t"
      " %24, %25, %26, %27, %28, %29, %30, %31,\n\t"
      " %32, %33, %34, %35, %36, %37, %38, %39,\n\t"
      " %40, %41, %42, %43, %44, %45, %46, %47,\n\t"
      " %48, %49, %50, %51, %52, %53, %54, %55,\n\t"
      " %56, %57, %58, %59, %60, %61, %62, %63,\n\t"
      " %64, %65, %66, %67, %68, %69, %70, %71,\n\t"
      " %72, %73, %74, %75, %76, %77, %78, %79,\n\t"
      " %80, %81, %82, %83, %84, %85, %86, %87,\n\t"
      " %88, %89, %90, %91, %92, %93, %94, %95,\n\t"
      " %96, %97, %98, %99, %100, %101, %102, %103,\n\t"
      " %104, %105, %106, %107, %108, %109, %110, %111,\n\t"
      " %112, %113, %114, %115, %116, %117, %118, %119,\n\t"
      " %120, %121, %122, %123, %124, %125, %126, %127},\n\t"
      "%128, %129, accumulate, 1, 1%133;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),
        "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]),
        "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]),
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]),
        "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),
        "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
        "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "C"(WgmmaK<kWgmmaK<type>>::text),
        "C"(MatrixTypeName<type>::text),
        "C"(WgmmaMajors<bits_of(type) == 16, a_major, b_major>::text));
}

// A from registers, laid out as that of mma.m16n8k16 (one warp: 16 rows).
template <MatrixType type, Major b_major = Major::kK>
__device__ inline void wgmma(float (&d)[32], const std::uint32_t (&a)[4], std::uint64_t b,
                             bool accumulate) {
  asm volatile(
      "{\n\t.reg .pred accumulate;\n\t"
      "setp.ne.b32 accumulate, %37, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n64%38.f32.%39.%39\n\t"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n\t"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31},\n\t"
      "{%32, %33, %34, %35}, %36, accumulate, 1, 1%40;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),
        "C"(WgmmaK<kWgmmaK<type>>::text), "C"(MatrixTypeName<type>::text),
        "C"(WgmmaMajors<bits_of(type) == 16, b_major>::text));
}

template <MatrixType type, Major b_major = Major::kK>
__device__ inline void wgmma(float (&d)[64], const std::uint32_t (&a)[4], std::uint64_t b,
                             bool accumulate) {
  asm volatile(
      "{\n\t.reg .pred accumulate;\n\t"
      "setp.ne.b32 accumulate, %69, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n128%70.f32.%71.%71\n\t"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n\t"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,\n\t"
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,\n\t"
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63},\n\t"
      "{%64, %65, %66, %67}, %68, accumulate, 1, 1%72;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),
        "C"(WgmmaK<kWgmmaK<type>>::text), "C"(MatrixTypeName<type>::text),
        "C"(WgmmaMajors<bits_of(type) == 16, b_major>::text));
}

}  // namespace tessera::ptx
