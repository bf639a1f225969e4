// The functions of cuBLAS and cuBLASLt that the baseline calls. The prototypes of their C interface
// are ours: no header of the vendor is needed to build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "lab/timing/vendor.h"

namespace tessera::lab::cublas {

using Handle = void*;
using Stream = void*;
using LtHandle = void*;
using LtDescriptor = void*;  // descriptor of a matmul, a matrix layout or a preference
using Code = int;            // 0 is success

inline constexpr int kReal32 = 0, kReal64 = 1;          // cudaDataType
inline constexpr int kCompute32 = 68, kCompute64 = 70;  // full precision of FP32 and of FP64

// Return the cudaDataType and cublasComputeType_t of a type. Throw kUnsupported if the library does
// not have the type.
int data_type(ElementType type);
int compute_type(ComputeType type);
inline constexpr int kNoTranspose = 0, kTranspose = 1;
inline constexpr int kDefaultAlgorithm = -1;
inline constexpr int kLtTransposeA = 3, kLtTransposeB = 4;  // attributes of a matmul, 32 bits each
inline constexpr int kLtEpilogue = 7, kLtBias = 8;  // attributes of a matmul: 32 bits, address
inline constexpr int kLtRelu = 2, kLtAddBias = 4, kLtGelu = 32;  // epilogues; sums combine them
inline constexpr int kLtMaxWorkspace = 1;                        // attribute of a preference
inline constexpr int kLtBatchCount = 5, kLtBatchStride = 6;  // attributes of a layout: 32, 64 bits

struct LtAlgorithm {
  std::array<std::uint64_t, 8> data;
};

struct LtHeuristic {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  Code state;
  float waves;
  std::array<int, 4> reserved;
};
static_assert(sizeof(LtHeuristic) == 96);

struct Library {
  Code (*create)(Handle*);
  Code (*destroy)(Handle);
  Code (*get_property)(int type, int* value);  // 0 major, 1 minor, 2 patch
  Code (*set_stream)(Handle, Stream);
  Code (*set_workspace)(Handle, void*, std::size_t);
  Code (*gemm)(Handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k,
               const void* alpha, const void* a, int a_type, std::int64_t lda, const void* b,
               int b_type, std::int64_t ldb, const void* beta, void* c, int c_type,
               std::int64_t ldc, int compute, int algorithm);

  Code (*gemm_strided)(Handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                       const void* alpha, const void* a, int a_type, std::int64_t lda,
                       std::int64_t stride_a, const void* b, int b_type, std::int64_t ldb,
                       std::int64_t stride_b, const void* beta, void* c, int c_type,
                       std::int64_t ldc, std::int64_t stride_c, std::int64_t count, int compute,
                       int algorithm);
  Code (*gemm_pointers)(Handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                        const void* alpha, const void* const* a, int a_type, std::int64_t lda,
                        const void* const* b, int b_type, std::int64_t ldb, const void* beta,
                        void* const* c, int c_type, std::int64_t ldc, std::int64_t count,
                        int compute, int algorithm);

  Code (*lt_create)(LtHandle*);
  Code (*lt_destroy)(LtHandle);
  Code (*lt_matmul_create)(LtDescriptor*, int compute, int scale_type);
  Code (*lt_matmul_destroy)(LtDescriptor);
  Code (*lt_matmul_set)(LtDescriptor, int attribute, const void*, std::size_t);
  Code (*lt_layout_create)(LtDescriptor*, int type, std::uint64_t rows, std::uint64_t cols,
                           std::int64_t ld);
  Code (*lt_layout_set)(LtDescriptor, int attribute, const void*, std::size_t);
  Code (*lt_layout_destroy)(LtDescriptor);
  Code (*lt_preference_create)(LtDescriptor*);
  Code (*lt_preference_destroy)(LtDescriptor);
  Code (*lt_preference_set)(LtDescriptor, int attribute, const void*, std::size_t);
  Code (*lt_heuristic)(LtHandle, LtDescriptor matmul, LtDescriptor a, LtDescriptor b,
                       LtDescriptor c, LtDescriptor d, LtDescriptor preference, int requested,
                       LtHeuristic results[], int* found);
  Code (*lt_matmul)(LtHandle, LtDescriptor matmul, const void* alpha, const void* a,
                    LtDescriptor a_layout, const void* b, LtDescriptor b_layout, const void* beta,
                    const void* c, LtDescriptor c_layout, void* d, LtDescriptor d_layout,
                    const LtAlgorithm*, void* workspace, std::size_t workspace_bytes, Stream);
};

// Loads libcublas and the libcublasLt next to it. Returns false if that fails; `problem` is then
// the loader's message.
bool load_library(const std::string& path, Library& library, std::string& problem);

}  // namespace tessera::lab::cublas

namespace tessera::lab {

// Returns a vendor that uses a loaded library (or a test's own functions). Returns null if the
// library does not start; `problem` is then the reason.
std::unique_ptr<Vendor> make_vendor(Device& device, const cublas::Library& library,
                                    const VendorOptions& options, std::string& problem);

}  // namespace tessera::lab
