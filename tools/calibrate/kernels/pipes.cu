// Arithmetic: how many of each instruction an SM takes, and how long a dependent one waits. One
// chain of dependent operations shows the latency, eight show the rate.
#include <mma.h>

#include "tools/calibrate/kernels/timed.h"

namespace tessera::calibration {
namespace {

// Operands that the compiler does not know.
template <class T>
struct Operands {
  T a, b;
};
template <class T>
__device__ Operands<T> operands(const Params& p) {
  return {static_cast<T>(p.iterations), static_cast<T>(p.iterations + 3 + p.zero)};
}

template <class T, int chains, class Operation>
__device__ void run(const Params& p, Operation operation) {
  const Operands<T> with = operands<T>(p);
  T values[chains];
#pragma unroll
  for (int c = 0; c < chains; ++c) values[c] = static_cast<T>(threadIdx.x + c);
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) values[u % chains] = operation(values[u % chains], with);
    }
  });
  T sum = 0;
#pragma unroll
  for (int c = 0; c < chains; ++c) sum += values[c];
  keep(p, sum);
}

struct MultiplyAdd {  // FFMA, DFMA, IMAD
  template <class T>
  __device__ T operator()(T x, Operands<T> with) const {
    return x * with.a + with.b;
  }
};
struct Add {  // FADD, DADD
  template <class T>
  __device__ T operator()(T x, Operands<T> with) const {
    return x + with.a;
  }
};
struct Shift {  // SHF
  __device__ unsigned operator()(unsigned x, Operands<unsigned> with) const {
    return __funnelshift_l(x, with.a, 7);
  }
};
struct AddThenXor {  // IADD3, LOP3
  template <class T>
  __device__ T operator()(T x, Operands<T> with) const {
    return (x + with.a) ^ with.b;
  }
};
struct WideMultiplyAdd {  // IMAD.WIDE
  __device__ long long operator()(long long x, Operands<long long> with) const {
    return static_cast<long long>(static_cast<int>(x)) * static_cast<int>(with.a) + x;
  }
};

}  // namespace

extern "C" __global__ void ffma_1(const Params p) { run<float, 1>(p, MultiplyAdd{}); }
extern "C" __global__ void ffma_8(const Params p) { run<float, 8>(p, MultiplyAdd{}); }
extern "C" __global__ void fadd_8(const Params p) { run<float, 8>(p, Add{}); }
extern "C" __global__ void dfma_1(const Params p) { run<double, 1>(p, MultiplyAdd{}); }
extern "C" __global__ void dfma_8(const Params p) { run<double, 8>(p, MultiplyAdd{}); }
extern "C" __global__ void imad_1(const Params p) { run<unsigned, 1>(p, MultiplyAdd{}); }
extern "C" __global__ void imad_8(const Params p) { run<unsigned, 8>(p, MultiplyAdd{}); }
extern "C" __global__ void imad_wide_1(const Params p) { run<long long, 1>(p, WideMultiplyAdd{}); }
extern "C" __global__ void imad_wide_8(const Params p) { run<long long, 8>(p, WideMultiplyAdd{}); }
extern "C" __global__ void shift_1(const Params p) { run<unsigned, 1>(p, Shift{}); }
extern "C" __global__ void shift_8(const Params p) { run<unsigned, 8>(p, Shift{}); }
extern "C" __global__ void add_xor_1(const Params p) { run<unsigned, 1>(p, AddThenXor{}); }
extern "C" __global__ void add_xor_8(const Params p) { run<unsigned, 8>(p, AddThenXor{}); }
extern "C" __global__ void add_xor_64_8(const Params p) {
  run<unsigned long long, 8>(p, AddThenXor{});
}

// FFMA and IMAD in turn; FFMA and LOP3 + IADD3 in turn: do they share a pipe?
template <class Integer>
__device__ void beside_ffma(const Params& p, Integer operation) {
  const Operands<float> f = operands<float>(p);
  const Operands<unsigned> n = operands<unsigned>(p);
  float x[4];
  unsigned y[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    x[c] = static_cast<float>(threadIdx.x + c);
    y[c] = threadIdx.x + c;
  }
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        x[u % 4] = x[u % 4] * f.a + f.b;
        y[u % 4] = operation(y[u % 4], n);
      }
    }
  });
  keep(p, x[0] + x[1] + x[2] + x[3]);
  keep(p, y[0] + y[1] + y[2] + y[3]);
}
extern "C" __global__ void ffma_imad(const Params p) { beside_ffma(p, MultiplyAdd{}); }
extern "C" __global__ void ffma_shift(const Params p) { beside_ffma(p, Shift{}); }

// FP64 tensor cores: 8x8x4 through WMMA.
template <int chains>
__device__ void multiply_matrices(const Params& p) {
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum[chains];
  wmma::fill_fragment(a, p.iterations);
  wmma::fill_fragment(b, p.iterations + 3 + p.zero);
#pragma unroll
  for (int c = 0; c < chains; ++c) wmma::fill_fragment(sum[c], c);
  timed(p, [&] {
    for (int i = 0; i < p.iterations; ++i) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        wmma::mma_sync(sum[u % chains], a, b, sum[u % chains]);
      }
    }
  });
  double total = 0;
#pragma unroll
  for (int c = 0; c < chains; ++c) total += sum[c].x[0] + sum[c].x[1];
  keep(p, total);
}
extern "C" __global__ void dmma_1(const Params p) { multiply_matrices<1>(p); }
extern "C" __global__ void dmma_4(const Params p) { multiply_matrices<4>(p); }

}  // namespace tessera::calibration
