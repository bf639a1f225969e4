// The types of the fields of kernels' configs. A config is one named struct value, the same at
// compile time (template argument) and at run time (catalog, tuner, tests). Each kernel's config.h
// declares a config struct, its rules, and the config table. Pure C++, for host and nvcc.
#pragma once

namespace tessera {

// A block tile: m x n outputs. Each step adds k products to the sum of every output.
struct BlockTile {
  int m, n, k;
};

// A warp's or thread's tile of outputs.
struct OutputTile {
  int m, n;
};

// The index along which an operand is contiguous; kStrided if that is known only at run time.
enum class Major { kStrided, kM, kN, kK };

// The contiguous indices of A and B in the canonical problem (C row-major).
struct Majors {
  Major a, b;  // a: kK or kM; b: kN or kK
};

// How the tiles of an operand are loaded into shared memory.
enum class Load {
  kTma,       // by tensor copies: base address and row stride must be multiples of 16 bytes
  kCpAsync4,  // element by element, by 4-byte cp.async: any alignment
};
struct Loads {
  Load a, b;
};

// The box that one tensor copy moves, in elements, and its swizzle (in bytes; 0: none).
struct TensorBox {
  int inner = 0, outer = 0;  // extents along the operand's contiguous index, and across it
  int swizzle = 0;
};

// One row of a kernel's config table. The row becomes one entry point, named by variant and majors.
template <class Config>
struct ConfigRow {
  const char* variant;  // what a user types after the kernel's name, "128x128x8"
  Config config;
};

// A config table for fixed majors has four rows per variant, one for each pair, in this order.
inline constexpr Majors kAllMajors[4] = {
    {Major::kK, Major::kN}, {Major::kM, Major::kN}, {Major::kK, Major::kK}, {Major::kM, Major::kK}};

// A config table, returned by the functions below.
template <class Config, int count>
struct ConfigRows {
  ConfigRow<Config> rows[count];
  constexpr const ConfigRow<Config>* begin() const { return rows; }
  constexpr const ConfigRow<Config>* end() const { return rows + count; }
  constexpr const ConfigRow<Config>& operator[](int i) const { return rows[i]; }
  static constexpr int size() { return count; }
};

// Returns the config table with four rows per variant of `list`, one for each pair of majors.
template <class Config, int variants>
constexpr ConfigRows<Config, 4 * variants> for_all_majors(
    const ConfigRow<Config> (&list)[variants]) {
  ConfigRows<Config, 4 * variants> table{};
  for (int v = 0; v < variants; ++v) {
    for (int s = 0; s < 4; ++s) {
      table.rows[4 * v + s] = list[v];
      table.rows[4 * v + s].config.majors = kAllMajors[s];
    }
  }
  return table;
}

// Returns the config table of a kernel that takes strides at run time: one row per variant.
template <class Config, int variants>
constexpr ConfigRows<Config, variants> rows_of(const ConfigRow<Config> (&list)[variants]) {
  ConfigRows<Config, variants> table{};
  for (int v = 0; v < variants; ++v) table.rows[v] = list[v];
  return table;
}

}  // namespace tessera
