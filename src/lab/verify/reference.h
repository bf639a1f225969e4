// Computes the expected D. Products that are summed in FP32 or less are recomputed in FP64 (by
// OpenBLAS if it can be loaded, else by our own blocked loop), FP64 products in double-double. Each
// value has the magnitude with which the error bound scales. Beyond 2^31 multiply-adds only a
// sample of the entries is computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/data/matrix.h"
#include "problem/problem.h"

namespace tessera::lab {

inline constexpr std::int64_t kFullReferenceLimit = std::int64_t{1} << 31;  // multiply-adds

inline constexpr int kSeededEntries = 4096;  // seeded entries of a sample

struct Entry {
  std::int64_t row = 0, col = 0;
};

// The expected values: value = high + low. Without a list of entries, the values are those of the
// whole D, with entry (r, c) at r * cols + c.
struct Reference {
  std::int64_t rows = 0, cols = 0;
  std::vector<Entry> entries;     // which entries the values belong to; empty: every one
  bool sampled = false;           // the list leaves entries out
  std::vector<double> high, low;  // low is empty when it is zero throughout
  // M = |alpha||A||B| + |beta||C|; after an epilogue (|scale| M + |bias|) times the steepest slope
  // of the activation
  std::vector<double> magnitude;
  std::string method;  // "OpenBLAS 0.3.21 FP64", "blocked FP64", "double-double"

  Entry entry(std::int64_t i) const {
    return entries.empty() ? Entry{i / cols, i % cols} : entries[i];
  }
};

struct ReferenceOptions {
  std::int64_t full_limit = kFullReferenceLimit;
  bool exact_data = false;         // FP64 sums of this data are exact: no need for double-double
  bool own_code_only = false;      // no OpenBLAS; for NaN data, where a library may skip zeros
  std::string openblas_path = {};  // empty: the usual names
  std::uint64_t seed = 1;          // seed of the sample
  int sample = kSeededEntries;     // seeded entries; if fewer than usual, seams are not checked
};

// Whether D is small enough to be computed whole. If not, a sample represents it.
bool fits_full_reference(const Problem& problem, std::int64_t full_limit = kFullReferenceLimit);

// The vectors of an epilogue; null if the epilogue has none.
struct EpilogueVectors {
  const HostMatrix* scale = nullptr;
  const HostMatrix* bias = nullptr;
};

// Reads A and B only when alpha and k are not zero, C only when beta is not zero.
Reference make_reference(const Problem& problem, const HostMatrix& a, const HostMatrix& b,
                         const HostMatrix& c, const ReferenceOptions& options = {},
                         const EpilogueVectors& vectors = {});

// Returns 4096 seeded entries, the corners, and the entries on both sides of every multiple of 8
// (seams of tiles are multiples of 8), in one seeded row and one seeded column. If these are more
// than 16384 entries, takes multiples of 16, 32, ... If D has no more than 4096 entries, returns
// all. If `seeded` is less than 4096, returns only the seeded entries and the corners.
std::vector<Entry> sample_entries(const Problem& problem, std::uint64_t seed,
                                  int seeded = kSeededEntries);

// Returns alpha or beta as a kernel of this type sees it.
double scale_in_type(ComputeType type, double scale);

}  // namespace tessera::lab
