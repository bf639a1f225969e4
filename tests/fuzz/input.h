// The bytes of one input, read as numbers: most small and legal, some far from it. After the last
// byte all numbers are 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace tessera::fuzz {

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool is_over() const { return at_ >= bytes_.size(); }
  int byte() { return is_over() ? 0 : bytes_[at_++]; }
  int below(int count) { return byte() % count; }
  bool one_in(int count) { return below(count) == count - 1; }
  template <class T, std::size_t n>
  T one_of(const T (&values)[n]) {
    return values[static_cast<std::size_t>(below(static_cast<int>(n)))];
  }
  // What no caller should pass, or only just.
  std::int64_t wild() {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::int64_t values[] = {
        0,          -1,           1,        2,        3,       most,
        -most - 1,  most / 2,     most / 4, most / 8, 1 << 20, 0x7fffffff,
        0x80000000, 0x1'00000001, 1 << 30,  4096,     7,       16};
    const std::int64_t value = one_of(values);
    return one_in(8) && value > 5 ? value - below(5) : value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

// Stops with a sentence, as a sanitizer does: both drivers keep the input.
[[noreturn]] void fail(const char* what);
inline void expect(bool holds, const char* what) {
  if (!holds) fail(what);
}

}  // namespace tessera::fuzz
