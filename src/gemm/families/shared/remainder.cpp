#include "gemm/families/shared/remainder.h"

#include <algorithm>
#include <limits>

namespace tessera::gemm {
namespace {

constexpr double kWorthwhile = 0.99;  // share of the cost of one piece; the model is not finer
constexpr double kNothing = std::numeric_limits<double>::infinity();

// Where the whole tiles may end along m or n: at the end of D, or at the end of the last tile
// that lies completely in D.
struct Ends {
  long long list[2];
  int count;

  const long long* begin() const { return list; }
  const long long* end() const { return list + count; }
};
Ends ends_of(long long extent, int block, bool always) {
  const long long whole = extent / block * block;
  if (whole == extent || whole == 0) return {{extent, 0}, 1};
  return always ? Ends{{whole, 0}, 1} : Ends{{extent, whole}, 2};
}

OperandModes modes_of(const KernelRow& row) { return {row.majors, row.loads}; }

}  // namespace

Cost Rectangles::cost(const DeviceLimits& limits) const {
  Cost all = list[0].scheduled.cost;
  for (int i = 1; i < count; ++i) all.remainder += after_another(list[i].scheduled.cost, limits);
  return all;
}

GemmParams product_of(std::int64_t m, std::int64_t n, const GemmParams& whole) {
  GemmParams p = whole;
  p.m = m;
  p.n = n;
  return p;
}

bool is_tiling(std::span<const Piece> pieces, const GemmParams& whole, BlockTile block) {
  std::int64_t area = 0;
  for (const Piece& one : pieces) {
    const bool is_inside =
        one.m > 0 && one.n > 0 && one.m_begin + one.m <= whole.m && one.n_begin + one.n <= whole.n;
    if (!is_inside || one.m_begin % block.m != 0 || one.n_begin % block.n != 0) return false;
    area += one.m * one.n;
    for (const Piece& other : pieces) {
      const bool is_apart =
          one.m_begin >= other.m_begin + other.m || other.m_begin >= one.m_begin + one.m ||
          one.n_begin >= other.n_begin + other.n || other.n_begin >= one.n_begin + one.n;
      if (&one != &other && !is_apart) return false;
    }
  }
  return area == whole.m * whole.n;
}

RemainderSearch::RemainderSearch(std::vector<RatedRow> small, const GemmParams& whole,
                                 const DeviceLimits& limits, Policy split, Policy remainder)
    : small_(std::move(small)),
      whole_(whole),
      limits_(limits),
      split_(split),
      remainder_(whole.k == 0 ? Policy::kNever : remainder) {}

Rectangle RemainderSearch::priced_rectangle(const RatedRow& row, long long m, long long n,
                                            Splitting split) const {
  ++priced_;
  Rectangle rectangle{row, 0, 0, m, n};
  rectangle.scheduled =
      cost_of_persistent(row, modes_of(*row.row), product_of(m, n, whole_), limits_, split);
  return rectangle;
}

Rectangles RemainderSearch::whole(const RatedRow& row, Splitting split) const {
  return {{priced_rectangle(row, whole_.m, whole_.n, split)}, 1};
}

Rectangle RemainderSearch::rectangle(const RatedRow& row, const Piece& piece) const {
  Rectangle one = priced_rectangle(row, piece.m, piece.n, Splitting(piece));
  one.m_begin = piece.m_begin;
  one.n_begin = piece.n_begin;
  return one;
}

// The rectangle of m x n outputs, with the config row that costs least after another launch.
const RemainderSearch::Remainder& RemainderSearch::remainder(long long m, long long n) {
  for (const Remainder& known : known_) {
    if (known.m == m && known.n == n) return known;
  }
  Remainder found{m, n, {}, kNothing};
  for (const RatedRow& row : small_) {
    if (!schedule::fits_schedule(m, n, whole_.k, row.row->block)) continue;
    const Rectangle rectangle = priced_rectangle(row, m, n, split_);
    const double cost = after_another(rectangle.scheduled.cost, limits_);
    if (cost >= found.cost) continue;
    found.cost = cost;
    found.best = rectangle;
  }
  known_.push_back(found);
  return known_.back();
}

double RemainderSearch::least_of(const Rectangle& rectangle) const {
  if (rectangle.m == 0 || rectangle.n == 0) return 0;
  return least_after_another(product_of(rectangle.m, rectangle.n, whole_), small_, limits_);
}

// Tries whole tiles up to (m, n), and remainders. `corner_below`: the lower
// remainder has the corner.
void RemainderSearch::try_split(const RatedRow& row, long long m, long long n, bool corner_below,
                                double& least, Rectangles& best) {
  const Rectangle remainders[] = {
      {{}, 0, n, corner_below ? m : whole_.m, whole_.n - n},
      {{}, m, 0, whole_.m - m, corner_below ? whole_.n : n},
  };
  Rectangles found{{priced_rectangle(row, m, n, split_)}, 1};
  // WHY: whole tiles that are too expensive even with the cheapest remainders need no search.
  if (found.cost(limits_).total() + least_of(remainders[0]) + least_of(remainders[1]) >= least)
    return;
  for (const Rectangle& wanted : remainders) {
    if (wanted.m == 0 || wanted.n == 0) continue;
    Rectangle& rectangle = found.list[found.count++];
    rectangle = remainder(wanted.m, wanted.n).best;
    rectangle.m_begin = wanted.m_begin;
    rectangle.n_begin = wanted.n_begin;
  }
  const double cost = found.cost(limits_).total();
  if (cost >= least) return;
  least = cost;
  best = found;
}

Rectangles RemainderSearch::best(const RatedRow& row) {
  Rectangles best = whole(row);
  if (remainder_ == Policy::kNever) return best;
  const bool always = remainder_ == Policy::kAlways;
  double least = always ? kNothing : kWorthwhile * best.cost(limits_).total();
  for (const long long m : ends_of(whole_.m, row.row->block.m, always)) {
    for (const long long n : ends_of(whole_.n, row.row->block.n, always)) {
      if (m == whole_.m && n == whole_.n) continue;
      const bool has_corner = m < whole_.m && n < whole_.n;
      for (int corner_below = 0; corner_below <= has_corner; ++corner_below) {
        try_split(row, m, n, corner_below != 0, least, best);
      }
    }
  }
  return best;
}

}  // namespace tessera::gemm
