// How GoogleTest prints a choice of a kernel, and what it calls a test of one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "catalog/catalog.h"

namespace tessera {

inline constexpr const char* kLayouts[] = {"NN", "NT", "TN", "TT"};

inline void PrintTo(const KernelChoice& choice, std::ostream* out) {
  *out << choice.kernel->name << '/' << choice.variant;
}

inline std::string test_name(const testing::TestParamInfo<KernelChoice>& info) {
  return info.param.kernel->name + "__" + info.param.variant;
}

// Whether some layout is for operands that tensor copies take alone: no row brings both element by
// element. What else such a variant is given it refuses by name.
inline bool may_refuse_alignments(const KernelChoice& choice) {
  if (choice.kernel->family != "direct") return false;
  const auto by_elements = [](const KernelRow& row) {
    return row.loads.a != Load::kTma && row.loads.b != Load::kTma;
  };
  return std::ranges::count_if(rows_of(*choice.kernel, choice.variant), by_elements) < 4;
}

}  // namespace tessera
