// The number of elements by which each operand misses a boundary of 256 bytes. The numbers differ:
// a kernel that checks one base address, and assumes the others are alike, would pass if all were
// misaligned alike.
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

// Returns "3" if all are equal, else the numbers of A, B, C and D: "0,1,0,3".
inline std::string text_of(const Misalign& by) {
  if (by == Misalign(by.a)) return std::to_string(by.a);
  return std::to_string(by.a) + "," + std::to_string(by.b) + "," + std::to_string(by.c) + "," +
         std::to_string(by.d);
}

}  // namespace tessera::lab
