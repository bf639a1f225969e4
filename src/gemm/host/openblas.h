// OpenBLAS, loaded at run time: it multiplies if there is no GPU, and computes the lab's
// references.
#pragma once

#include <string>

#include "problem/problem.h"

namespace tessera::gemm::host {

class OpenBlas {
 public:
  // Null if the library cannot be loaded. An empty path tries the usual names.
  static const OpenBlas* load(const std::string& path = {});
  const std::string& version() const { return version_; }  // "OpenBLAS 0.3.21"

  // C = alpha op(A) op(B) + beta C, where C is m x n and op(A) is m x k.
  template <class T>
  struct Call {
    Order order;
    Op op_a, op_b;
    int m, n, k;
    T alpha;
    const T* a;
    int lda;
    const T* b;
    int ldb;
    T beta;
    T* c;
    int ldc;
  };
  void multiply(const Call<double>& call) const;
  void multiply(const Call<float>& call) const;

 private:
  template <class T>
  using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                        const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
  template <class T>
  static void run(Gemm<T> gemm, const Call<T>& call);

  Gemm<double> dgemm_ = nullptr;
  Gemm<float> sgemm_ = nullptr;
  std::string version_;
};

}  // namespace tessera::gemm::host
