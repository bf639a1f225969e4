// One small product for the kernels of the wgmma family: its operands in a device's memory, ragged
// and with gaps between rows, and what D must be.
#pragma once

#include <bit>
#include <cmath>

#include "tests/kernels/gemm/wgmma_configs.h"
#include "tests/kernels/run_kernel.h"

namespace tessera {

struct ProductSizes {
  int m, n, k;
};

// Small integers, exact in every type.
inline int number(int i, int j, int seed) { return (i * 3 + j * 7 + i * j + seed) % 5 - 2; }

inline std::uint16_t bf16(float x) {  // rounded to nearest even
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline std::uint16_t f16(float x) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(x)); }

inline int rounded_up(int n, int to) { return (n + to - 1) / to * to; }

// One matrix in memory: rows of `ld` elements, and nothing of them is 0 outside of the matrix.
struct TestMatrix {
  int rows, cols, ld;
  std::vector<float> values;  // rows x ld

  TestMatrix(int rows, int cols, int pad) : rows(rows), cols(cols), ld(rounded_up(cols, 8) + pad) {
    values.assign(static_cast<std::size_t>(rows) * ld, -77);
  }
  float& at(int i, int j) { return values[static_cast<std::size_t>(i) * ld + j]; }

  Bytes bytes(ptx::MatrixType type) const {
    return bytes(type == kTf32 ? Out::kF32 : type == kBf16 ? Out::kBf16 : Out::kF16);
  }
  Bytes bytes(Out type) const {
    if (type == Out::kF32) return bytes_of(values);
    std::vector<std::uint16_t> narrow;
    for (const float x : values) narrow.push_back(type == Out::kBf16 ? bf16(x) : f16(x));
    return bytes_of(narrow);
  }
};

inline TestMatrix operand(int outer, int k, bool along_k, int seed) {
  TestMatrix x(along_k ? outer : k, along_k ? k : outer, 8);
  for (int i = 0; i < outer; ++i) {
    for (int j = 0; j < k; ++j) (along_k ? x.at(i, j) : x.at(j, i)) = number(i, j, seed);
  }
  return x;
}

struct ProductCase {
  ProductSizes size;
  float alpha, beta;
  bool transposed = false;  // D: rows of A are its columns
  int c_pad = 0;            // further elements between rows of C
  bool in_place = false;    // C is D
};

// What D must be, gaps between its rows included.
inline TestMatrix expected_of(const ProductCase& c, const TestMatrix& before,
                              const TestMatrix& c_in) {
  TestMatrix d = before;
  const auto [m, n, k] = c.size;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += number(i, l, 0) * number(j, l, 1);
      const int row = c.transposed ? j : i, column = c.transposed ? i : j;
      d.at(row, column) = c.alpha * sum;
      if (c.beta != 0) {
        d.at(row, column) += c.beta * c_in.values[row * std::size_t(c_in.ld) + column];
      }
    }
  }
  return d;
}

// One problem in a device's memory.
class Product {
 public:
  Product(Device& device, const wgmma::Config& config, const ProductCase& c)
      : config_(config),
        a_(operand(c.size.m, c.size.k, config.a_along_k(), 0)),
        b_(operand(c.size.n, c.size.k, config.b_along_k(), 1)),
        c_(c.transposed ? c.size.n : c.size.m, c.transposed ? c.size.m : c.size.n, pad() + c.c_pad),
        d_(c_.rows, c_.cols, pad()),
        in_a_(device, a_.bytes(config.in)),
        in_b_(device, b_.bytes(config.in)),
        in_c_(device, with_c(c).bytes(config.out)),
        expected_(expected_of(c, d_, c_).bytes(config.out)),
        case_(c) {}

  GemmParams params(const DeviceBytes& out) const {
    const auto pointer = [](const DeviceBytes& x) { return reinterpret_cast<void*>(x.address()); };
    GemmParams p = {};
    p.a = pointer(in_a_), p.b = pointer(in_b_), p.c = pointer(in_c_), p.d = pointer(out);
    p.m = case_.size.m, p.n = case_.size.n, p.k = case_.size.k;
    p.a_row = config_.a_along_k() ? a_.ld : 1, p.a_col = config_.a_along_k() ? 1 : a_.ld;
    p.b_row = config_.b_along_k() ? 1 : b_.ld, p.b_col = config_.b_along_k() ? b_.ld : 1;
    p.c_row = c_.ld, p.d_row = d_.ld;
    if (case_.in_place) p.c = p.d;
    p.alpha = case_.alpha, p.beta = case_.beta;
    return p;
  }
  Bytes before() const { return (case_.in_place ? c_ : d_).bytes(config_.out); }
  const Bytes& expected() const { return expected_; }

 private:
  // Where rows need not be whole pieces of 16 bytes, they are not.
  int pad() const { return config_.store == kTma ? 8 : 3; }
  const TestMatrix& with_c(const ProductCase& c) {
    for (int i = 0; i < c_.rows; ++i) {
      for (int j = 0; j < c_.cols; ++j) c_.at(i, j) = c.beta == 0 ? NAN : number(i, j, 2);
    }
    return c_;
  }

  wgmma::Config config_;
  TestMatrix a_, b_, c_, d_;
  DeviceBytes in_a_, in_b_, in_c_;
  Bytes expected_;
  ProductCase case_;
};

}  // namespace tessera
