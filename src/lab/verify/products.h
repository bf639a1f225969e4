// Dense products on the host, the raw material of references. All matrices are row-major without
// gaps: a is m x k, b is k x n, results are m x n. Each sum runs over k in order, so results do not
// depend on the number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::lab {

struct Extents {
  std::int64_t m = 0, n = 0, k = 0;
};

// c = a b in FP64 with fused multiply-adds.
void multiply_blocked(const Extents& size, const double* a, const double* b, double* c);

// high + low = a b as if summed with twice the digits (two-products and two-sums; Ogita, Rump and
// Oishi's Dot2). low may be NaN where high is infinite or NaN.
void multiply_double_double(const Extents& size, const double* a, const double* b, double* high,
                            double* low);

// OpenBLAS, loaded at run time.
class OpenBlas {
 public:
  // Null when it cannot be loaded. An empty path tries the usual names.
  static const OpenBlas* load(const std::string& path = {});
  // c = a b, or false when a size does not fit the library's 32-bit integers.
  bool multiply(const Extents& size, const double* a, const double* b, double* c) const;
  const std::string& version() const { return version_; }  // "OpenBLAS 0.3.21"

 private:
  using Dgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                         const double* a, int lda, const double* b, int ldb, double beta, double* c,
                         int ldc);
  Dgemm dgemm_ = nullptr;
  std::string version_;
};

}  // namespace tessera::lab
