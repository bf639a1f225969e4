// How GoogleTest prints a choice of a kernel, and what it calls a test of one.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "catalog/catalog.h"

namespace tessera {

inline void PrintTo(const KernelChoice& choice, std::ostream* out) {
  *out << choice.kernel->name << '/' << choice.variant;
}

inline std::string test_name(const testing::TestParamInfo<KernelChoice>& info) {
  return info.param.kernel->name + "__" + info.param.variant;
}

}  // namespace tessera
