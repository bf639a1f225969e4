// Which compiled code a GPU can load: a cubin runs on later minor revisions of its architecture
// only, PTX on all later architectures.
#pragma once

#include <charconv>
#include <string_view>

namespace tessera {

// The number in an architecture's name: 90 for "sm_90a", 75 for "compute_75". 0 if the name has no
// number.
inline int arch_number(std::string_view arch) {
  const auto digits = arch.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  int number = 0;
  std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  return number;
}

// Whether code for `arch` can run on a GPU of compute capability `sm` (90). An
// architecture-specific target ("sm_90a") runs on its own compute capability only; a cubin also
// runs on later minor revisions with the same major number; plain PTX also runs on all later
// compute capabilities.
inline bool cubin_fits(std::string_view arch, int sm) {
  const int made_for = arch_number(arch);
  if (arch.ends_with('a')) return made_for == sm;
  // HW: a cubin runs on the compute capability it was made for, and on later minor revisions with
  // the same major number (CUDA C++ Programming Guide, binary compatibility).
  return made_for / 10 == sm / 10 && made_for <= sm;
}
inline bool ptx_fits(std::string_view arch, int sm) {
  const int made_for = arch_number(arch);
  return arch.ends_with('a') ? made_for == sm : made_for <= sm;
}

}  // namespace tessera
