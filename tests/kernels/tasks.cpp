#include "tests/kernels/tasks.h"

#include <bit>
#include <numeric>

namespace tessera {
namespace {

using Floats = std::vector<float>;

Floats numbers(int n) {
  Floats x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7 % 13 + 1);
  return x;
}

Task task(const Floats& in, const Floats& expected) {
  return {.in = bytes_of(in),
          .out = Bytes(expected.size() * sizeof(float)),
          .expected = bytes_of(expected),
          .n = static_cast<int>(in.size())};
}

}  // namespace

Task copied(int n) { return task(numbers(n), numbers(n)); }

Task reversed(int n) { return reversed_and_padded(n, n); }

Task reversed_and_padded(int n, int padded) {
  Floats expected = numbers(n);
  expected.resize(padded);
  return task(numbers(n), {expected.rbegin(), expected.rend()});
}

Task sum_of_reversed_rounds(int rounds, int n) {
  const Floats in = numbers(rounds * n);
  Floats expected(n);
  for (int i = 0; i < rounds * n; ++i) expected[n - 1 - i % n] += in[i];
  return task(in, expected);
}

Task sum_of_shares(int blocks, int n) {
  const Floats in = numbers(blocks * n);
  Floats expected(n);
  for (int i = 0; i < blocks * n; ++i) expected[i % n] += in[i];
  return task(in, expected);
}

Task sum_of_shares_kept(int blocks, int n) {
  Task sum = sum_of_shares(blocks, n);
  sum.expected.insert(sum.expected.end(), sum.in.begin(), sum.in.end());
  sum.out.resize(sum.expected.size());
  return sum;
}

Task sum_in_all(int n, int threads) {
  const Floats in = numbers(n);
  return task(in, Floats(threads, std::accumulate(in.begin(), in.end(), 0.0F)));
}

Task sum_plus_reversed_index(int n) {
  const Floats in = numbers(n);
  Floats expected(n, std::accumulate(in.begin(), in.end(), 0.0F));
  for (int i = 0; i < n; ++i) expected[i] += static_cast<float>(n - 1 - i);
  return task(in, expected);
}

Task sum_of_neighbours(int n, int lanes) {
  const Floats in = numbers(lanes);
  Floats expected = in;
  for (int i = 0; i < n; ++i) expected[i] += in[i ^ 1];
  return task(in, expected);
}

Task sum_of_fours(int n, int threads) {
  const Floats in = numbers(n);
  Floats expected(threads);
  for (int i = 0; i < 4 * threads; ++i) expected[i / 4] += in[i];
  return task(in, expected);
}

Task sum_modulo_8(int n) {
  const Floats in = numbers(n);
  Floats expected(n);
  for (int i = 0; i < n; ++i) {
    for (int j = i % 8; j < n; j += 8) expected[i] += in[j];
  }
  return task(in, expected);
}

Task a_times_a_transposed() {
  const Floats in = numbers(32);
  const std::vector<double> a(in.begin(), in.end());
  std::vector<double> d(64);
  for (int i = 0; i < 256; ++i) d[i / 4] += a[i / 32 * 4 + i % 4] * a[i / 4 % 8 * 4 + i % 4];
  return {.in = bytes_of(a), .out = Bytes(d.size() * 8), .expected = bytes_of(d), .n = 32};
}

namespace {

constexpr int kSide = 64;  // of a tile

float tile_element(int tile, int row, int column) {
  return static_cast<float>((tile + row * 3 + column * 5 + row * column) % 7 - 3);
}

// Where a tensor copy with a 128-byte swizzle puts an element of 16 bits in rows of 128 bytes.
int swizzled(int row, int column) { return row * kSide + (column / 8 ^ row % 8) * 8 + column % 8; }

std::uint16_t bf16(float x) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
}

}  // namespace

Task tiles_times_transposed(int tiles, float factor) {
  std::vector<std::uint16_t> in(static_cast<std::size_t>(tiles) * kSide * kSide);
  Floats expected(kSide * kSide);
  for (int t = 0; t < tiles; ++t) {
    for (int i = 0; i < kSide; ++i) {
      for (int j = 0; j < kSide; ++j) {
        in[t * kSide * kSide + swizzled(i, j)] = bf16(tile_element(t, i, j));
        for (int k = 0; k < kSide; ++k) {
          expected[i * kSide + j] += factor * tile_element(t, i, k) * tile_element(t, j, k);
        }
      }
    }
  }
  Task product = task({}, expected);
  product.in = bytes_of(in);
  product.n = static_cast<int>(product.in.size() / sizeof(float));
  return product;
}

Task neighbours_exchanged(int n) {
  const Floats in = numbers(2 * n);
  Floats expected(in.begin() + n, in.end());
  expected.insert(expected.end(), in.begin(), in.begin() + n);
  return task(in, expected);
}

}  // namespace tessera
