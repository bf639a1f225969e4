// sgemm_ and dgemm_ of the BLAS's Fortran interface over the C interface, with operands in host
// memory: preloaded, it lets netlib's testers of the BLAS test Tessera. TESSERA_TEST_PLACE is a
// GPU's number, whose side then multiplies all, or one of tessera_place's constants; without it,
// any place.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tessera/gemm.h"

extern "C" void xerbla_(const char* name, const int* argument, std::size_t length);

namespace {

tessera_handle handle() {
  static const tessera_handle made = [] {
    const char* const text = std::getenv("TESSERA_TEST_PLACE");
    tessera_place place{};
    place.size = sizeof place;
    place.gpu = text ? std::atoi(text) : TESSERA_ANY_PLACE;
    if (place.gpu >= 0) place.host_side = TESSERA_GPU_SIDE;
    tessera_handle one = nullptr;
    if (tessera_create(&one, &place) != TESSERA_OK) {
      std::fprintf(stderr, "tessera: %s\n", tessera_last_message());
      std::exit(1);
    }
    return one;
  }();
  return made;
}

// 0: N, 1: T (and C, the same for real numbers), -1: neither.
int op_of(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return TESSERA_N;
    case 'T':
    case 't':
    case 'C':
    case 'c':
      return TESSERA_T;
    default:
      return -1;
  }
}

// The number of the first illegal argument, in the order of the interface; 0: all are legal.
int illegal(int op_a, int op_b, int m, int n, int k, int lda, int ldb, int ldc) {
  if (op_a < 0) return 1;
  if (op_b < 0) return 2;
  if (m < 0) return 3;
  if (n < 0) return 4;
  if (k < 0) return 5;
  if (lda < std::max(1, op_a == TESSERA_N ? m : k)) return 8;
  if (ldb < std::max(1, op_b == TESSERA_N ? k : n)) return 10;
  if (ldc < std::max(1, m)) return 13;
  return 0;
}

template <class T>
void gemm(const char* name, std::int32_t type, const char* trans_a, const char* trans_b,
          const int* m, const int* n, const int* k, const T* alpha, const T* a, const int* lda,
          const T* b, const int* ldb, const T* beta, T* c, const int* ldc) {
  const int op_a = op_of(*trans_a), op_b = op_of(*trans_b);
  if (const int argument = illegal(op_a, op_b, *m, *n, *k, *lda, *ldb, *ldc)) {
    return xerbla_(name, &argument, 6);
  }
  tessera_problem problem{};
  problem.size = sizeof problem;
  problem.m = *m, problem.n = *n, problem.k = *k;
  problem.type_a = type;
  problem.op_a = op_a, problem.op_b = op_b;
  problem.lda = *lda, problem.ldb = *ldb, problem.ldc = problem.ldd = *ldc;
  problem.memory = TESSERA_HOST_MEMORY;
  if (tessera_gemm(handle(), &problem, *alpha, a, b, *beta, c, c, nullptr) != TESSERA_OK) {
    std::fprintf(stderr, "tessera: %s\n", tessera_last_message());
    std::exit(1);
  }
}

}  // namespace

extern "C" {

void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc) {
  gemm("SGEMM ", TESSERA_F32, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc) {
  gemm("DGEMM ", TESSERA_F64, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // extern "C"
