// A stand-in for the vendor's library: the same functions, which multiply column-major matrices as
// the library's manual says.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/elements.h"
#include "base/small_float.h"
#include "lab/timing/cublas.h"

namespace tessera::lab {

// A matrix layout, a matmul or a preference of the stand-in.
struct Descriptor {
  int type = 0, compute = 0, op_a = 0, op_b = 0;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t ld = 0, stride = 0;
  std::int32_t count = 1;
  std::size_t workspace = 0;
  int epilogue = 1;  // none
  const void* bias = nullptr;
};

inline Descriptor& of(cublas::LtDescriptor handle) { return *static_cast<Descriptor*>(handle); }

struct Product {
  std::int64_t m, n, k;
  int op_a, op_b;
  const void *alpha, *a, *b, *beta, *c;
  void* d;
  std::int64_t lda, ldb, ldc, ldd;
};

// Column-major D = alpha op(A) op(B) + beta C, with sums of type T.
template <class T, class In = T, class Out = T>
void multiply(const Product& p) {
  const In* a = static_cast<const In*>(p.a);
  const In* b = static_cast<const In*>(p.b);
  const T alpha = *static_cast<const T*>(p.alpha), beta = *static_cast<const T*>(p.beta);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        const In left = p.op_a == cublas::kNoTranspose ? a[i + k * p.lda] : a[k + i * p.lda];
        const In right = p.op_b == cublas::kNoTranspose ? b[k + j * p.ldb] : b[j + k * p.ldb];
        sum = std::fma(static_cast<T>(left), static_cast<T>(right), sum);
      }
      T value = alpha * sum;
      if (beta != 0) value += beta * static_cast<T>(static_cast<const Out*>(p.c)[i + j * p.ldc]);
      static_cast<Out*>(p.d)[i + j * p.ldd] = element_of<Out>(value);
    }
  }
}

// The numbers of the vendor's headers: cudaDataType 0 f32, 1 f64, 14 bf16; cublasComputeType 68 and
// 70. 15 is its "not supported".
inline cublas::Code multiply_types(const Product& p, int in, int out, int compute) {
  if (in == 1 && out == 1 && compute == 70) return multiply<double>(p), 0;
  if (in == 0 && out == 0 && compute == 68) return multiply<float>(p), 0;
  if (in == 14 && out == 14 && compute == 68) return multiply<float, Bfloat16, Bfloat16>(p), 0;
  if (in == 14 && out == 0 && compute == 68) return multiply<float, Bfloat16, float>(p), 0;
  return 15;
}

inline int live_descriptors = 0;
inline int last_algorithm = -1;
inline std::size_t asked_workspace = 0;

inline cublas::Code lt_destroy_any(cublas::LtDescriptor handle) {
  delete static_cast<Descriptor*>(handle);
  --live_descriptors;
  return 0;
}

inline cublas::LtDescriptor make_descriptor(const Descriptor& value) {
  ++live_descriptors;
  return new Descriptor(value);
}

// The epilogues of the vendor's header: 1 none, 2 ReLU, 4 a bias for each row, 32 GELU by tanh, and
// sums of these. Of an FP32 D alone.
inline cublas::Code finish(const Product& p, int type, const Descriptor& matmul) {
  if (matmul.epilogue == 1) return 0;
  if (type != 0) return 15;
  for (std::int64_t i = 0; i < p.m * p.n; ++i) {
    float& d = static_cast<float*>(p.d)[i % p.m + i / p.m * p.ldd];
    if (matmul.epilogue & 4) d += static_cast<const float*>(matmul.bias)[i % p.m];
    if (matmul.epilogue & 2) d = d < 0 ? 0 : d;
    if (matmul.epilogue & 32) {
      d *= 0.5f * (1 + std::tanh(0.7978845608f * (d + 0.044715f * d * d * d)));
    }
  }
  return 0;
}

inline void stand_in_blas(cublas::Library& lib) {
  lib.create = [](cublas::Handle* out) { return *out = new int, 0; };
  lib.destroy = [](cublas::Handle handle) { return delete static_cast<int*>(handle), 0; };
  lib.get_property = [](int part, int* value) { return *value = 10 + part, 0; };
  lib.set_stream = [](cublas::Handle, cublas::Stream) { return 0; };
  lib.set_workspace = [](cublas::Handle, void* memory, std::size_t bytes) {
    return memory != nullptr && bytes == std::size_t{64} << 20 ? 0 : 7;
  };
  lib.gemm = [](cublas::Handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                const void* alpha, const void* a, int a_type, std::int64_t lda, const void* b,
                int b_type, std::int64_t ldb, const void* beta, void* c, int c_type,
                std::int64_t ldc, int compute, int algorithm) {
    const Product p{m, n, k, op_a, op_b, alpha, a, b, beta, c, c, lda, ldb, ldc, ldc};
    if (a_type != b_type || algorithm != -1) return 15;
    return multiply_types(p, a_type, c_type, compute);
  };
}

inline void stand_in_batches(cublas::Library& lib) {
  lib.gemm_strided = [](cublas::Handle, int op_a, int op_b, std::int64_t m, std::int64_t n,
                        std::int64_t k, const void* alpha, const void* a, int a_type,
                        std::int64_t lda, std::int64_t stride_a, const void* b, int b_type,
                        std::int64_t ldb, std::int64_t stride_b, const void* beta, void* c,
                        int c_type, std::int64_t ldc, std::int64_t stride_c, std::int64_t count,
                        int compute, int algorithm) {
    if (a_type != 0 || b_type != 0 || c_type != 0 || algorithm != -1) return 15;
    for (std::int64_t i = 0; i < count; ++i) {
      float* const d = static_cast<float*>(c) + i * stride_c;
      multiply<float>({m, n, k, op_a, op_b, alpha, static_cast<const float*>(a) + i * stride_a,
                       static_cast<const float*>(b) + i * stride_b, beta, d, d, lda, ldb, ldc,
                       ldc});
    }
    return compute == 68 ? 0 : 15;
  };
  lib.gemm_pointers = [](cublas::Handle, int op_a, int op_b, std::int64_t m, std::int64_t n,
                         std::int64_t k, const void* alpha, const void* const* a, int a_type,
                         std::int64_t lda, const void* const* b, int b_type, std::int64_t ldb,
                         const void* beta, void* const* c, int c_type, std::int64_t ldc,
                         std::int64_t count, int compute, int algorithm) {
    if (a_type != 0 || b_type != 0 || c_type != 0 || algorithm != -1) return 15;
    for (std::int64_t i = 0; i < count; ++i) {
      multiply<float>(
          {m, n, k, op_a, op_b, alpha, a[i], b[i], beta, c[i], c[i], lda, ldb, ldc, ldc});
    }
    return compute == 68 ? 0 : 15;
  };
}

inline void stand_in_descriptors(cublas::Library& lib) {
  lib.lt_create = [](cublas::LtHandle* out) { return *out = new int, 0; };
  lib.lt_destroy = [](cublas::LtHandle handle) { return delete static_cast<int*>(handle), 0; };
  lib.lt_matmul_create = [](cublas::LtDescriptor* out, int compute, int type) {
    Descriptor matmul;
    matmul.compute = compute;
    matmul.type = type;
    return *out = make_descriptor(matmul), 0;
  };
  lib.lt_matmul_set = [](cublas::LtDescriptor matmul, int attribute, const void* value,
                         std::size_t bytes) {
    if (attribute == cublas::kLtBias) {
      if (bytes != sizeof of(matmul).bias) return 7;
      return std::memcpy(&of(matmul).bias, value, bytes), 0;
    }
    if (bytes != sizeof(int)) return 7;
    if (attribute == cublas::kLtEpilogue) {
      return of(matmul).epilogue = *static_cast<const int*>(value), 0;
    }
    (attribute == cublas::kLtTransposeA ? of(matmul).op_a : of(matmul).op_b) =
        *static_cast<const int*>(value);
    return 0;
  };
  lib.lt_layout_create = [](cublas::LtDescriptor* out, int type, std::uint64_t rows,
                            std::uint64_t cols, std::int64_t ld) {
    Descriptor layout;
    layout.type = type;
    layout.rows = rows;
    layout.cols = cols;
    layout.ld = ld;
    return *out = make_descriptor(layout), ld >= static_cast<std::int64_t>(rows) ? 0 : 7;
  };
  lib.lt_preference_create = [](cublas::LtDescriptor* out) {
    return *out = make_descriptor({}), 0;
  };
  lib.lt_preference_set = [](cublas::LtDescriptor preference, int attribute, const void* value,
                             std::size_t) {
    if (attribute != cublas::kLtMaxWorkspace) return 7;
    asked_workspace = of(preference).workspace = *static_cast<const std::size_t*>(value);
    return 0;
  };
  lib.lt_layout_set = [](cublas::LtDescriptor layout, int attribute, const void* value,
                         std::size_t bytes) {
    if (attribute == cublas::kLtBatchCount && bytes == 4) {
      of(layout).count = *static_cast<const std::int32_t*>(value);
    } else if (attribute == cublas::kLtBatchStride && bytes == 8) {
      of(layout).stride = *static_cast<const std::int64_t*>(value);
    } else {
      return 7;
    }
    return 0;
  };
  lib.lt_matmul_destroy = lib.lt_layout_destroy = lib.lt_preference_destroy = lt_destroy_any;
}

inline void stand_in_light(cublas::Library& lib) {
  lib.lt_heuristic = [](cublas::LtHandle, cublas::LtDescriptor, cublas::LtDescriptor,
                        cublas::LtDescriptor, cublas::LtDescriptor, cublas::LtDescriptor,
                        cublas::LtDescriptor, int requested, cublas::LtHeuristic results[],
                        int* found) {
    *found = std::min(requested, 5);
    for (int i = 0; i < *found; ++i) {
      results[i].algorithm.data[0] = i;
      results[i].state = i == 2 ? 15 : 0;  // one that does not fit
    }
    return 0;
  };
  lib.lt_matmul = [](cublas::LtHandle, cublas::LtDescriptor matmul, const void* alpha,
                     const void* a, cublas::LtDescriptor la, const void* b, cublas::LtDescriptor lb,
                     const void* beta, const void* c, cublas::LtDescriptor lc, void* d,
                     cublas::LtDescriptor ld, const cublas::LtAlgorithm* algorithm, void*,
                     std::size_t, cublas::Stream) {
    const bool plain = of(matmul).op_a == cublas::kNoTranspose;
    const auto k = static_cast<std::int64_t>(plain ? of(la).cols : of(la).rows);
    const bool plain_b = of(matmul).op_b == cublas::kNoTranspose;
    if (k != static_cast<std::int64_t>(plain_b ? of(lb).rows : of(lb).cols)) return 7;
    last_algorithm = static_cast<int>(algorithm->data[0]);
    const Product p{static_cast<std::int64_t>(of(ld).rows),
                    static_cast<std::int64_t>(of(ld).cols),
                    k,
                    of(matmul).op_a,
                    of(matmul).op_b,
                    alpha,
                    a,
                    b,
                    beta,
                    c,
                    d,
                    of(la).ld,
                    of(lb).ld,
                    of(lc).ld,
                    of(ld).ld};
    if (of(la).type != of(lb).type || of(lc).type != of(ld).type) return 15;
    if (of(ld).count == 1) {
      const cublas::Code code = multiply_types(p, of(la).type, of(ld).type, of(matmul).compute);
      return code == 0 ? finish(p, of(ld).type, of(matmul)) : code;
    }
    for (const cublas::LtDescriptor layout : {la, lb, lc}) {
      if (of(layout).count != of(ld).count) return 7;
    }
    for (std::int64_t i = 0; i < of(ld).count; ++i) {  // of floats
      Product one = p;
      one.a = static_cast<const float*>(a) + i * of(la).stride;
      one.b = static_cast<const float*>(b) + i * of(lb).stride;
      one.c = static_cast<const float*>(c) + i * of(lc).stride;
      one.d = static_cast<float*>(d) + i * of(ld).stride;
      multiply<float>(one);
    }
    return 0;
  };
}

inline cublas::Library stand_in() {
  cublas::Library lib{};
  stand_in_blas(lib);
  stand_in_batches(lib);
  stand_in_descriptors(lib);
  stand_in_light(lib);
  return lib;
}

}  // namespace tessera::lab
