// Remainder tiles. 4097 x 4097 outputs take 17 x 33 tiles of 256x128, and a tenth of the outputs of
// these tiles are outside of D. So D may be planned in rectangles: first the whole tiles of a
// config row, then the rests to the right and below, by config rows with smaller tiles. The corner
// of D belongs to one of the two rests. Each rectangle begins at the edge of a large tile, so its
// operands are as aligned as those of the whole product.
#pragma once

#include <span>
#include <vector>

#include "gemm/cost/cost.h"

namespace tessera::gemm {

// A rectangle of D, the config row that multiplies the rectangle, and the schedule.
struct Rectangle {
  RatedRow row;
  long long m_begin = 0, n_begin = 0, m = 0, n = 0;
  Scheduled scheduled = {};
};

// At most three rectangles: whole tiles first, then the rests of D to the right and below.
struct Rectangles {
  Rectangle list[Decision::kMostPieces];
  int count = 0;

  const Rectangle* begin() const { return list; }
  const Rectangle* end() const { return list + count; }
  // The cost of all rectangles, launched one after the other.
  Cost cost(const DeviceLimits& limits) const;
};

// The parameters of the product for m rows and n columns of D, without addresses.
GemmParams product_of(std::int64_t m, std::int64_t n, const GemmParams& whole);

// Whether the pieces cover all of D without overlaps, and begin at multiples of the block tile.
bool is_tiling(std::span<const Piece> pieces, const GemmParams& whole, BlockTile block);

// Searches for the cheapest rectangles of a product, among config rows that load all operands
// by TMA. One object serves all rows of a kernel, so that a remainder that several rows have
// in common is priced once.
class RemainderSearch {
 public:
  // `small`: the config rows that may multiply remainders.
  RemainderSearch(std::vector<RatedRow> small, const GemmParams& whole, const DeviceLimits& limits,
                  Policy split, Policy remainder);

  // All of D as one rectangle, multiplied by one config row.
  Rectangles whole(const RatedRow& row) const { return whole(row, split_); }
  Rectangles whole(const RatedRow& row, Splitting split) const;
  // The rectangle of a piece of D, multiplied by a config row with the piece's split.
  Rectangle rectangle(const RatedRow& row, const Piece& piece) const;
  // The rectangles that the policy for remainders requests, else the cheapest ones. The
  // rectangle of `row` comes first.
  Rectangles best(const RatedRow& row);

  // The number of products priced so far.
  int priced() const { return priced_; }

 private:
  struct Remainder {
    long long m, n;
    Rectangle best;  // without m_begin and n_begin
    double cost;     // microseconds of `best` after another launch
  };
  Rectangle priced_rectangle(const RatedRow& row, long long m, long long n, Splitting split) const;
  const Remainder& remainder(long long m, long long n);
  double least_of(const Rectangle& rectangle) const;
  void try_split(const RatedRow& row, long long m, long long n, bool corner_below, double& least,
                 Rectangles& best);

  std::vector<RatedRow> small_;
  GemmParams whole_;
  DeviceLimits limits_;
  Policy split_, remainder_;
  std::vector<Remainder> known_;
  mutable int priced_ = 0;
};

}  // namespace tessera::gemm
