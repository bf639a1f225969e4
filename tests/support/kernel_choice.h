// GoogleTest prints a choice of a kernel by its name.
#pragma once

#include <ostream>

#include "catalog/catalog.h"

namespace tessera {

inline void PrintTo(const KernelChoice& choice, std::ostream* out) {
  *out << choice.kernel->name << '/' << choice.variant;
}

}  // namespace tessera
