// A BF16 matrix times a few rows of FP32, or columns: one launch that reads the matrix once, as it
// is. More rows are right, too; a CTA then reads the matrix again for every so many of them.
#include <algorithm>
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "kernels/families/mixed/config.h"
#include "kernels/families/mixed/params.h"

namespace tessera::gemm {
namespace {

using MixedParams = mixed::Params;

// The two operands along their lines: the BF16 one, and the rows of FP32.
struct MixedSides {
  bool is_a;  // the BF16 one
  std::int64_t lines, rows;
  std::int64_t narrow_line, narrow_k, wide_row, wide_k;
  int narrow_alignment, wide_alignment;
};

MixedSides mixed_sides(const Request& request) {
  const GemmParams& p = request.product.params;
  const int a = request.a_alignment, b = request.b_alignment;
  const Types& types = request.problem().types;
  if (size_of(types.a) < size_of(types.b)) {
    return {true, p.m, p.n, p.a_row, p.a_col, p.b_col, p.b_row, a, b};
  }
  return {false, p.n, p.m, p.b_col, p.b_row, p.a_row, p.a_col, b, a};
}

mixed::Loads loads_of(const MixedSides& s) {
  if (s.narrow_k == 1 && s.narrow_alignment % 16 == 0 && s.narrow_line % 8 == 0) {
    return mixed::kAlongK;
  }
  const bool is_across = s.narrow_line == 1 && s.narrow_alignment % 8 == 0 && s.narrow_k % 4 == 0;
  return is_across ? mixed::kAlongLines : mixed::kElements;
}

bool has_whole_rows(const MixedSides& s) {
  return s.wide_k == 1 && s.wide_alignment % 16 == 0 && s.wide_row % 4 == 0;
}

// How a product is shared out. `sharing`: warps of a CTA, or of a cluster, that share k.
struct MixedShares {
  std::int64_t tiles_of_lines = 0, tiles = 0;  // of one product
  int sharing = 1;

  int warps_of_lines() const { return std::max(1, mixed::kWarps / sharing); }
  int ctas() const { return std::max(1, sharing / mixed::kWarps); }  // of a cluster
};

MixedShares shares_with(int sharing, const MixedSides& s, int columns) {
  MixedShares shares{.sharing = sharing};
  shares.tiles_of_lines = ceil_div(s.lines, std::int64_t{mixed::kLines} * shares.warps_of_lines());
  shares.tiles = shares.tiles_of_lines * ceil_div(s.rows, std::int64_t{columns});
  return shares;
}

class Mixed final : public Family {
 public:
  bool takes(const Batch&) const override { return true; }

  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = one.rows.front();
      const MixedSides sides = mixed_sides(request);
      if (!fits_grid(sides, row, request)) {
        return too_many_tiles(kernel, request, "2^35 elements along k");
      }
      const MixedShares shares = shares_of(row, sides, request);
      offers.push_back({.kernel = &kernel,
                        .row = &row,
                        .cost = cost_of_mixed(work_of(one, sides, shares, request), request.limits),
                        .decision = decision_of(shares, row, request)});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const MixedSides sides = mixed_sides(request);
    const MixedShares shares = shares_of(*offer.row, sides, request);
    MixedParams params{};
    params.gemm = request.product.params;
    params.batch = batch_of(request, 1);
    params.lines = sides.lines, params.rows = sides.rows;
    params.narrow_line = sides.narrow_line, params.narrow_k = sides.narrow_k;
    params.wide_row = sides.wide_row, params.wide_k = sides.wide_k;
    params.tiles_of_lines = static_cast<unsigned>(shares.tiles_of_lines);
    params.tiles = static_cast<unsigned>(shares.tiles);
    params.warps_of_lines = shares.warps_of_lines();
    params.loads = loads_of(sides);
    params.fp32_is_along_k = has_whole_rows(sides) ? 1 : 0;
    params.bf16_is_a = sides.is_a ? 1 : 0;
    // WHY it may start early: its threads wait for the end of the previous launch before any access
    // to memory.
    LaunchShape shape{.grid = shares.tiles * shares.ctas() * request.products(),
                      .block = offer.row->threads,
                      .starts_early = true};
    if (shares.ctas() > 1)
      shape.cluster[0] = shares.ctas(), shape.cluster[1] = shape.cluster[2] = 1;
    Step step = step_of(Pass::kMultiply, offer.row->entry, shape, params);
    patch_product(step, offsetof(MixedParams, gemm), request.product);
    return {step};
  }

 private:
  static const mixed::Config& config_of(const KernelRow& row) {
    return *static_cast<const mixed::Config*>(row.config);
  }
  static int columns_of(const KernelRow& row) { return config_of(row).columns; }

  static bool fits_grid(const MixedSides& s, const KernelRow& row, const Request& request) {
    const __int128 tiles = static_cast<__int128>(ceil_div(s.lines, std::int64_t{mixed::kLines})) *
                           ceil_div(s.rows, std::int64_t{columns_of(row)}) * request.products();
    return tiles * mixed::kMostCtas <= kMaxGrid && request.product.params.k <= std::int64_t{1}
                                                                                   << 35;
  }

  // The time of a chunk. HW: H100, 131072 x 4096 lines. What warps side by side read together are
  // longer pieces of lines, or of rows across k, the more or the fewer of them share k.
  static double slowdown_of(const MixedSides& s, int sharing) {
    if (s.narrow_k == 1) return sharing == 1 ? 1.1 : (sharing == 2 ? 1.05 : 1);
    return sharing <= 2 ? 1 : (sharing == 4 ? 1.05 : 1.2);
  }

  // The sharing that takes the least time, by chunks of k that a CTA multiplies one after the
  // other.
  static MixedShares shares_of(const KernelRow& row, const MixedSides& s, const Request& request) {
    constexpr int kMostSharing = mixed::kWarps * mixed::kMostCtas;
    const int columns = columns_of(row);
    const int given = request.given.value_or(Decision{}).warps;
    if (given >= 1 && given <= kMostSharing && (given & (given - 1)) == 0) {
      return shares_with(given, s, columns);
    }
    const double chunks =
        static_cast<double>(ceil_div(request.product.params.k, std::int64_t{mixed::kChunk}));
    const double slots = static_cast<double>(request.limits.sms) * row.ctas_per_sm;
    MixedShares best;
    double least = 0;
    for (int sharing = 1; sharing <= kMostSharing; sharing *= 2) {
      const MixedShares shares = shares_with(sharing, s, columns);
      constexpr double kOfTile = 3, kOfCluster = 4;
      const double ctas = static_cast<double>(shares.tiles) *
                          static_cast<double>(request.products()) * shares.ctas();
      const double of_cta = std::ceil(chunks / sharing) * slowdown_of(s, sharing) + kOfTile +
                            (shares.ctas() > 1 ? kOfCluster : 0);
      const double time = std::ceil(ctas / slots) * of_cta;
      if (sharing > 1 && time >= least) continue;
      best = shares;
      least = time;
    }
    return best;
  }

  static Decision decision_of(const MixedShares& shares, const KernelRow& row,
                              const Request& request) {
    const GemmParams& p = request.product.params;
    const std::int64_t ctas = shares.tiles * shares.ctas();
    return {
        .warps = shares.sharing,
        .list = {{.variant = row.variant, .m = p.m, .n = p.n, .tiles = ctas, .whole_tiles = ctas}},
        .count = 1};
  }

  static MixedWork work_of(const Variant& one, const MixedSides& s, const MixedShares& shares,
                           const Request& request) {
    const int columns = columns_of(one.rows.front());
    return {.lines = s.lines,
            .rows = s.rows,
            .k = request.product.params.k,
            .products = request.products(),
            .columns = columns,
            .rate = one.tflops,
            .warps = shares.tiles * shares.ctas() * request.products() * mixed::kWarps,
            .is_in_clusters = shares.ctas() > 1,
            .is_by_elements = loads_of(s) == mixed::kElements,
            .has_whole_rows = has_whole_rows(s)};
  }
};

}  // namespace

const Family& mixed_family() {
  static const Mixed family;
  return family;
}

}  // namespace tessera::gemm
