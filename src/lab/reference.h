// What D should be. FP32 products are recomputed in FP64 (OpenBLAS where it can be loaded, else our
// own blocked loop), FP64 products in double-double; beside each value stands the magnitude that
// the error bound scales with. Beyond 2^31 multiply-adds only a sample of the entries is computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/matrix.h"
#include "problem/problem.h"

namespace tessera::lab {

inline constexpr std::int64_t kFullReferenceLimit = std::int64_t{1} << 31;  // multiply-adds

struct Entry {
  std::int64_t row = 0, col = 0;
};

// value = high + low. Without entries: all of D, entry (r, c) at r * cols + c.
struct Reference {
  std::int64_t rows = 0, cols = 0;
  std::vector<Entry> entries;  // the sample; empty means every entry
  bool sampled = false;
  std::vector<double> high, low;  // low is empty when it is zero throughout
  std::vector<double> magnitude;  // |alpha||A||B| + |beta||C|
  std::string method;             // "OpenBLAS FP64", "blocked FP64", "double-double"
};

struct ReferenceOptions {
  std::int64_t full_limit = kFullReferenceLimit;
  bool own_code_only = false;      // no OpenBLAS: the tests compare both; NaN data always
  std::string openblas_path;       // empty: the usual names
  std::uint64_t seed = 1;          // of the sample
  int tile_m = 128, tile_n = 128;  // seams that the sample looks at on both sides
};

// Reads A and B only when alpha and k are not zero, C only when beta is not zero.
Reference make_reference(const Problem& problem, const HostMatrix& a, const HostMatrix& b,
                         const HostMatrix& c, const ReferenceOptions& options = {});

// 4096 seeded entries, the corners, and both sides of every tile seam at one seeded row and column;
// 16384 at most.
std::vector<Entry> sample_entries(const Problem& problem, const ReferenceOptions& options);

// "OpenBLAS 0.3.21" or empty when it cannot be loaded.
std::string openblas_version(const std::string& path = {});

}  // namespace tessera::lab
