// Matrix times vector on CUDA cores: one launch, of which every product with m or n of 1 takes one
// pass over the matrix. Other products are right, too: one pass for each of their vectors.
#include <algorithm>
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "kernels/families/simt/vector_params.h"

namespace tessera::gemm {
namespace {

constexpr std::int64_t kWarpsPerSm = 24;  // that keep enough loads on their way
constexpr std::int64_t kBlocksPerSm = 2;  // the same of blocks whose lanes lie along outputs
constexpr int kLeastSegment = 64;         // bytes of a row that lanes side by side load
constexpr int kMostAlong = 32;            // lanes of a warp

// How one product is divided among warps, lanes and blocks.
struct Shares {
  bool are_rows = false, is_aligned = false, is_along_k = false;
  std::int64_t outputs = 0, vectors = 0, blocks = 0;
  int warps = 1, lanes = kMostAlong;
};

// A number of warps or lanes that is given, or the one that `choose` finds.
template <class Choose>
int given_or(int given, int least, int most, Choose&& choose) {
  const bool is_legal = given >= least && given <= most && (given & (given - 1)) == 0;
  return is_legal ? given : choose();
}

Shares shares_of(const KernelRow& row, const Request& request, int bytes) {
  const GemmParams& p = request.product.params;
  const Decision given = request.given.value_or(Decision{});
  Shares d;
  d.are_rows = p.m <= p.n;
  d.outputs = d.are_rows ? p.n : p.m;
  d.vectors = d.are_rows ? p.m : p.n;
  d.is_along_k = (d.are_rows ? p.b_row : p.a_col) == 1;
  const std::int64_t ld =
      d.are_rows ? (d.is_along_k ? p.b_col : p.b_row) : (d.is_along_k ? p.a_row : p.a_col);
  const int alignment = d.are_rows ? request.b_alignment : request.a_alignment;
  d.is_aligned = alignment % 16 == 0 && ld % (16 / bytes) == 0;
  const std::int64_t width = d.is_aligned ? 16 / bytes : 1;
  const std::int64_t all = d.vectors * request.products(), sms = request.limits.sms;
  if (d.is_along_k) {
    const std::int64_t rows = row.thread.m, warps = row.threads / 32;
    d.warps = given_or(given.warps, 1, static_cast<int>(warps), [&] {
      int chosen = 1;
      while (chosen < warps && ceil_div(d.outputs, rows) * all * chosen < kWarpsPerSm * sms &&
             32 * width * chosen < p.k) {
        chosen *= 2;
      }
      return chosen;
    });
    d.blocks = ceil_div(d.outputs, warps / d.warps * rows);
    return d;
  }
  const int fewest = static_cast<int>(kLeastSegment / (width * bytes));
  d.lanes = given_or(given.lanes, fewest, kMostAlong, [&] {
    int chosen = kMostAlong;
    while (chosen > fewest && ceil_div(d.outputs, chosen * width) * all < kBlocksPerSm * sms) {
      chosen /= 2;
    }
    return chosen;
  });
  d.blocks = ceil_div(d.outputs, d.lanes * width);
  return d;
}

Decision decision_of(const Shares& d, const KernelRow& row, const GemmParams& p) {
  const std::int64_t blocks = d.blocks * d.vectors;
  return {
      .warps = d.is_along_k ? d.warps : 0,
      .lanes = d.is_along_k ? 0 : d.lanes,
      .list =
          {{.variant = row.variant, .m = p.m, .n = p.n, .tiles = blocks, .whole_tiles = blocks}},
      .count = 1};
}

class MatrixTimesVector final : public Family {
 public:
  bool takes(const Batch&) const override { return true; }

  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    const int bytes = size_of(kernel.types.a);
    const GemmParams& p = request.product.params;
    if (!request.options.kernel && p.m > 1 && p.n > 1) {
      return Status::unsupported(size_of_d_text(request) + ", but " + kernel.name +
                                 " is chosen where one of them is 1");
    }
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = row_of_majors(one, request);
      const Shares d = shares_of(row, request, bytes);
      const std::int64_t count = request.products();
      const __int128 blocks = static_cast<__int128>(d.blocks) * d.vectors * count;
      if (blocks > kMaxGrid) {
        return Status::unsupported(size_of_d_text(request) + ", but " + kernel.name +
                                   " would need more than 2^31 - 1 thread blocks");
      }
      const VectorWork work{.outputs = d.outputs,
                            .k = p.k,
                            .vectors = d.vectors * count,
                            .blocks = static_cast<std::int64_t>(blocks),
                            .is_aligned = d.is_aligned,
                            .element_bytes = bytes};
      offers.push_back({.kernel = &kernel,
                        .row = &row,
                        .cost = cost_of_vectors(work, request.limits),
                        .decision = decision_of(d, row, p)});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const Shares d = shares_of(*offer.row, request, size_of(offer.kernel->types.a));
    vector::Params params{};
    params.gemm = request.product.params;
    params.batch = batch_of(request, 1);
    params.blocks = static_cast<unsigned>(d.blocks);
    params.vectors = static_cast<unsigned>(d.vectors);
    params.are_rows = d.are_rows ? 1 : 0;
    params.warps_along_k = d.warps;
    params.lanes_along_outputs = d.lanes;
    params.is_aligned = d.is_aligned ? 1 : 0;
    // WHY it may start early: its threads wait for the end of the previous launch before any access
    // to memory.
    Step step = step_of(Pass::kMultiply, offer.row->entry,
                        {.grid = d.blocks * d.vectors * request.products(),
                         .block = offer.row->threads,
                         .starts_early = true},
                        params);
    patch_product(step, offsetof(vector::Params, gemm), request.product);
    return {step};
  }
};

}  // namespace

const Family& vector_family() {
  static const MatrixTimesVector family;
  return family;
}

}  // namespace tessera::gemm
