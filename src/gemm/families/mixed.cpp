// A BF16 matrix times a few FP32 rows or columns: one launch that reads the matrix once, as it is
// in memory. With more rows, the launch reads the matrix once for each tile of rows.
#include <algorithm>
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "kernels/families/mixed/config.h"
#include "kernels/families/mixed/params.h"

namespace tessera::gemm {
namespace {

using MixedParams = mixed::Params;

// The two operands, with strides in elements: lines of the BF16 matrix, and FP32 rows.
struct MixedSides {
  bool is_a;  // A is the BF16 matrix
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

// How a product is divided among warps and CTAs.
struct MixedShares {
  int sharing = 1;         // parts of k: one per warp of a CTA, then one per CTA of a cluster
  int warps_of_lines = 1;  // groups of warps of a CTA with different lines
  int ctas = 1;            // CTAs of a cluster
  std::int64_t tiles_of_lines = 0, tiles = 0;  // of one product
};

// The most warps of a CTA that may divide k among them.
int most_sharing_warps(const mixed::Config& c) { return c.shares_terms() ? 1 : c.warps; }

MixedShares shares_with(int sharing, const MixedSides& s, const mixed::Config& c) {
  const int sharing_warps = std::min(sharing, most_sharing_warps(c));
  MixedShares shares{.sharing = sharing,
                     .warps_of_lines = c.warps / sharing_warps,
                     .ctas = sharing / sharing_warps};
  shares.tiles_of_lines = ceil_div(s.lines, std::int64_t{c.lines} * shares.warps_of_lines);
  shares.tiles = shares.tiles_of_lines * ceil_div(s.rows, std::int64_t{c.rows});
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
    params.warps_of_lines = shares.warps_of_lines;
    params.loads = loads_of(sides);
    params.fp32_is_along_k = has_whole_rows(sides) ? 1 : 0;
    params.bf16_is_a = sides.is_a ? 1 : 0;
    // WHY the step may start early: its threads wait for the end of the previous launch
    // before they access memory.
    LaunchShape shape{.grid = shares.tiles * shares.ctas * request.products(),
                      .block = offer.row->threads,
                      .shared_bytes = offer.row->shared_bytes,
                      .starts_early = true};
    if (shares.ctas > 1) shape.cluster[0] = shares.ctas, shape.cluster[1] = shape.cluster[2] = 1;
    Step step = step_of(Pass::kMultiply, offer.row->entry, shape, params);
    patch_product(step, offsetof(MixedParams, gemm), request.product);
    return {step};
  }

 private:
  static const mixed::Config& config_of(const KernelRow& row) {
    return *static_cast<const mixed::Config*>(row.config);
  }

  static bool fits_grid(const MixedSides& s, const KernelRow& row, const Request& request) {
    const mixed::Config& c = config_of(row);
    const __int128 tiles = static_cast<__int128>(ceil_div(s.lines, std::int64_t{c.lines})) *
                           ceil_div(s.rows, std::int64_t{c.rows}) * request.products();
    return tiles * mixed::kMostCtas <= kMaxGrid && request.product.params.k <= std::int64_t{1}
                                                                                   << 35;
  }

  // The relative time of a chunk of k. HW: H100, 131072 x 4096 lines. In a matrix
  // along k, warps read longer pieces of a line together if more of them share k; in a
  // matrix across k, if fewer do.
  static double slowdown_of(const mixed::Config& c, const MixedSides& s, int sharing) {
    if (c.shares_terms()) return 1;
    if (s.narrow_k == 1) return sharing == 1 ? 1.1 : (sharing == 2 ? 1.05 : 1);
    return sharing <= 2 ? 1 : (sharing == 4 ? 1.05 : 1.2);
  }

  // The sharing with the least time. Time is counted in chunks of k, which a CTA
  // multiplies one after the other.
  static MixedShares shares_of(const KernelRow& row, const MixedSides& s, const Request& request) {
    const mixed::Config& c = config_of(row);
    const int most_sharing = most_sharing_warps(c) * mixed::kMostCtas;
    const int given = request.given.value_or(Decision{}).warps;
    if (given >= 1 && given <= most_sharing && (given & (given - 1)) == 0) {
      return shares_with(given, s, c);
    }
    const double chunks =
        static_cast<double>(ceil_div(request.product.params.k, std::int64_t{mixed::kChunk}));
    MixedShares best;
    double least = 0;
    for (int sharing = 1; sharing <= most_sharing; sharing *= 2) {
      const MixedShares shares = shares_with(sharing, s, c);
      const double ctas = static_cast<double>(shares.tiles * request.products() * shares.ctas);
      const double of_cta = std::ceil(chunks / sharing) * slowdown_of(c, s, sharing) +
                            (shares.ctas > 4 ? kOfCta + kOfLargeCluster : kOfCta);
      const double time = ctas_of_sm(ctas, row, request) * of_cta;
      if (sharing > 1 && time >= least) continue;
      best = shares;
      least = time;
    }
    return best;
  }

  // HW: H200, 8 to 32 rows, 128 to 512 lines, k from 2048 to 7168. The fixed time of a
  // CTA, and the additional time in a large cluster, both in chunks. Two CTAs on an SM
  // take twice as long as one.
  static constexpr double kOfCta = 5, kOfLargeCluster = 2.4;
  static double ctas_of_sm(double ctas, const KernelRow& row, const Request& request) {
    const double sms = request.limits.sms, slots = sms * row.ctas_per_sm;
    return ctas <= slots ? std::max(1.0, ctas / sms) : std::ceil(ctas / slots) * row.ctas_per_sm;
  }

  static Decision decision_of(const MixedShares& shares, const KernelRow& row,
                              const Request& request) {
    const GemmParams& p = request.product.params;
    const std::int64_t ctas = shares.tiles * shares.ctas;
    return {
        .warps = shares.sharing,
        .list = {{.variant = row.variant, .m = p.m, .n = p.n, .tiles = ctas, .whole_tiles = ctas}},
        .count = 1};
  }

  static MixedWork work_of(const Variant& one, const MixedSides& s, const MixedShares& shares,
                           const Request& request) {
    const mixed::Config& c = config_of(one.rows.front());
    return {.lines = s.lines,
            .rows = s.rows,
            .k = request.product.params.k,
            .products = request.products(),
            .rows_of_cta = c.rows,
            .rate = one.tflops,
            .warps = shares.tiles * shares.ctas * request.products() * c.warps,
            .warps_to_fill = c.shares_terms() ? 8.0 : 12.0,
            .is_in_clusters = shares.ctas > 1,
            .is_by_elements = loads_of(s) == mixed::kElements ||
                              (c.shares_terms() && s.lines < c.lines * c.warps),
            .has_whole_rows = has_whole_rows(s)};
  }
};

}  // namespace

const Family& mixed_family() {
  static const Mixed family;
  return family;
}

}  // namespace tessera::gemm
