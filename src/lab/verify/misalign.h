// By how many elements operands miss a boundary of 256 bytes. Each has its own: a kernel that looks
// at one base, and takes it for all, is right where all are misaligned alike.
#pragma once

#include <string>

namespace tessera::lab {

struct Misalign {
  int a = 0, b = 0, c = 0, d = 0;

  constexpr Misalign() = default;
  constexpr Misalign(int all) : a(all), b(all), c(all), d(all) {}
  constexpr Misalign(int of_a, int of_b, int of_c, int of_d) : a(of_a), b(of_b), c(of_c), d(of_d) {}

  constexpr bool any() const { return (a | b | c | d) != 0; }
  bool operator==(const Misalign&) const = default;
};

// "3" where all are alike, else "0,1,0,3": of A, B, C and D.
inline std::string text_of(const Misalign& by) {
  if (by == Misalign(by.a)) return std::to_string(by.a);
  return std::to_string(by.a) + "," + std::to_string(by.b) + "," + std::to_string(by.c) + "," +
         std::to_string(by.d);
}

}  // namespace tessera::lab
