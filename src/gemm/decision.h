// The choices of a plan in addition to its kernel and variant, as plain data that can be compared,
// printed, stored, and planned again by name. Everything else in a plan follows from the decision,
// the problem and the GPU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace tessera::gemm {

// Which operands are repacked.
struct Needs {
  bool a = false, b = false;

  bool any() const { return a || b; }
  bool operator==(const Needs&) const = default;
};

// A rectangle of D as the kernel multiplies it, and the variant that multiplies it.
struct Piece {
  std::string_view variant = {};  // of the catalog
  std::int64_t m_begin = 0, n_begin = 0;
  std::int64_t m = 0, n = 0;  // 0 in a decision that was read from its name: all of D
  // Tiles of all products of a batch. The tiles after the first `whole_tiles` are split along k in
  // `runs`.
  std::int64_t tiles = 0, whole_tiles = 0;
  int runs = 0;

  bool is_split() const { return runs > 0; }
  bool operator==(const Piece&) const = default;
};

struct Decision {
  static constexpr int kMostPieces = 3;

  bool is_for_each = false;   // the products of a batch are multiplied one after the other
  bool is_exchanged = false;  // the product is multiplied as its transpose
  Needs repack = {};
  bool is_cut = false;     // k is cut, and the sums of all parts are added by a later launch
  std::int64_t parts = 1;  // of k
  // For a matrix times a vector: warps that share a row, or lanes side by side. Both are 0 for
  // other products.
  int warps = 0, lanes = 0;
  Piece list[kMostPieces] = {};
  int count = 0;  // of pieces; 0: one grid of tiles, and nothing to decide

  std::span<const Piece> pieces() const { return {list, static_cast<std::size_t>(count)}; }
  bool operator==(const Decision&) const = default;
};

// For people: "396 tiles, 116 tiles split in 132 runs; 128x16, 64x128; A repacked", or "-".
std::string text_of(const Decision& decision);

// For programs: "repack=a:whole_tiles=264:runs=132", with the variants of further pieces after a
// plus sign; "whole" where nothing is split, cut, or repacked. Plans of the same name are the same.
std::string name_of(const Decision& decision);

// The decision of that name for a kernel and one of its variants. Throws kBadArgument, with the
// possible words.
Decision decision_named(const KernelChoice& choice);

}  // namespace tessera::gemm
