// Which code a GPU can load: a cubin runs on one architecture, PTX on that and later ones.
#pragma once

#include <charconv>
#include <string_view>

namespace tessera {

// The number of "sm_90a" or "compute_75": 90, 75; 0 for text without one.
inline int arch_number(std::string_view arch) {
  const auto digits = arch.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  int number = 0;
  std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  return number;
}

// Whether code for `arch` can run on a GPU of compute capability `sm` (90): a cubin and an
// architecture-specific target ("sm_90a") need exactly that capability; plain PTX needs that one or
// a later one.
inline bool cubin_fits(std::string_view arch, int sm) {
  const int made_for = arch_number(arch);
  if (arch.ends_with('a')) return made_for == sm;
  // HW: a cubin runs on its own and later minor revisions of its major one (CUDA C++ Programming
  // Guide, binary compatibility).
  return made_for / 10 == sm / 10 && made_for <= sm;
}
inline bool ptx_fits(std::string_view arch, int sm) {
  const int made_for = arch_number(arch);
  return arch.ends_with('a') ? made_for == sm : made_for <= sm;
}

}  // namespace tessera
