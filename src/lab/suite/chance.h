// Seeded choices, the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "lab/data/fill.h"

namespace tessera::lab {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(mix_bits(seed)) {}
  // Returns another stream of numbers for each call. WHY the constant: without it, the new stream
  // would return the next numbers of this stream.
  Chance split() { return Chance(next() ^ 0xd1b54a32d192ed03ull); }

  std::uint64_t next() { return state_ = mix_bits(state_); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
  }
  bool happens(double probability) { return unit() < probability; }
  // Returns whole numbers from `low` to `high` whose logarithms are uniform.
  std::int64_t log_uniform(double low, double high) {
    return std::llround(low * std::exp2(unit() * std::log2(high / low)));
  }
  template <class T>
  const T& one_of(std::span<const T> list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }
  template <class T, std::size_t n>
  const T& one_of(const T (&list)[n]) {
    return one_of(std::span<const T>(list));
  }

 private:
  std::uint64_t state_;
};

}  // namespace tessera::lab
