// The choices of a plan in addition to kernel and variant: plain data that can be compared,
// printed, stored, and planned again by name. Everything else in a plan follows from its
// decision, the problem and the GPU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace tessera::gemm {

// Which of A and B are repacked.
struct Needs {
  bool a = false, b = false;

  bool any() const { return a || b; }
  bool operator==(const Needs&) const = default;
};

// A rectangle of D, in the rows and columns that the kernel computes, and its variant.
struct Piece {
  std::string_view variant = {};  // a variant's name in the catalog
  std::int64_t m_begin = 0, n_begin = 0;
  std::int64_t m = 0, n = 0;  // 0 in a decision that was read from a name: all of D
  // Tiles of all products of a batch. The tiles after the first `whole_tiles` tiles are split
  // along k into `runs` runs.
  std::int64_t tiles = 0, whole_tiles = 0;
  int runs = 0;

  bool is_split() const { return runs > 0; }
  bool operator==(const Piece&) const = default;
};

struct Decision {
  static constexpr int kMostPieces = 3;

  bool is_for_each = false;   // the products of a batch run one after the other
  bool is_exchanged = false;  // the product is multiplied as its transpose
  Needs repack = {};
  bool is_cut = false;     // k is cut, and a later launch adds the sums of all parts
  std::int64_t parts = 1;  // parts of k
  // For a matrix times a vector: the warps that share a row, or the lanes side by side. Both
  // numbers are 0 for other products.
  int warps = 0, lanes = 0;
  Piece list[kMostPieces] = {};
  int count = 0;  // of pieces; 0: one grid of tiles, without a choice

  std::span<const Piece> pieces() const { return {list, static_cast<std::size_t>(count)}; }
  bool operator==(const Decision&) const = default;
};

// Text for people: "396 tiles, 116 tiles split in 132 runs; 128x16, 64x128; A repacked", or "-".
std::string text_of(const Decision& decision);

// Text for programs: "repack=a:whole_tiles=264:runs=132", further pieces with their variants after
// a plus sign; "whole" if nothing is split, cut or repacked. Equal names mean equal plans.
std::string name_of(const Decision& decision);

// The decision with that name, for a kernel and one of its variants. If the name is wrong, throws
// kBadArgument with the possible words.
Decision decision_named(const KernelChoice& choice);

}  // namespace tessera::gemm
