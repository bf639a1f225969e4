// Batches of small products: one launch with a persistent grid of small thread blocks, each of
// which computes tile after tile.
#include <algorithm>
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "kernels/families/small/config.h"
#include "kernels/families/small/params.h"

namespace tessera::gemm {
namespace {

const small::Config& small_config_of(const KernelRow& row) {
  return *static_cast<const small::Config*>(row.config);
}

// Teams per thread block.
int teams_of(const KernelRow& row) { return small_config_of(row).teams; }

bool needs_fp64_tensor_cores(const Kernel& kernel) {
  return small_config_of(kernel.rows.front()).by == small::Arithmetic::kDmma;
}

class Small final : public Family {
 public:
  bool takes(const Batch&) const override { return true; }

  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    if (needs_fp64_tensor_cores(kernel) && !has_fp64_tensor_cores(request.limits.sm)) {
      return no_fp64_tensor_cores(kernel, request);
    }
    // Unless this kernel is named, single products are left to kernels that
    // fill a GPU with one product.
    if (!request.is_batch() && !request.options.kernel) {
      return Status::unsupported(kernel.name + " is for batches");
    }
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const GemmParams& p = request.product.params;
      const KernelRow& row = row_of_majors(one, request);
      if (tiles_of(row, p, request.products()) > kMaxGrid) {
        return Status::unsupported(size_of_d_text(request) + " and batch is " +
                                   describe(request.problem().batch) + ", but " + kernel.name +
                                   " counts at most 2^31 - 1 tiles");
      }
      const SmallWork work{
          .block = row.block,
          .rate = one.tflops,
          .products = request.products(),
          .element_bytes = size_of(kernel.types.a),
          .d_bytes = size_of(kernel.types.d),
          .is_aligned = operands_allow_vectors(request),
          .teams = row.ctas_per_sm * teams_of(row),
          .team_threads = small_config_of(row).team(),
      };
      offers.push_back(
          {.kernel = &kernel, .row = &row, .cost = cost_of_small(work, p, request.limits)});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    const GemmParams& p = request.product.params;
    small::Params params{};
    params.gemm = p;
    params.batch = batch_of(request, 1);
    params.tiles_n = static_cast<unsigned>(ceil_div(p.n, row.block.n));
    params.tiles = static_cast<unsigned>(ceil_div(p.m, row.block.m)) * params.tiles_n;
    params.all_tiles = static_cast<unsigned>(tiles_of(row, p, request.products()));
    const std::int64_t most = std::int64_t{request.limits.sms} * row.ctas_per_sm;
    const std::int64_t teams = teams_of(row);
    const std::int64_t blocks = (params.all_tiles + teams - 1) / teams;
    Step step = step_of(
        Pass::kMultiply, row.entry,
        {.grid = std::min(blocks, most), .block = row.threads, .shared_bytes = row.shared_bytes},
        params);
    patch_product(step, offsetof(small::Params, gemm), request.product);
    return {step};
  }
};

}  // namespace

const Family& small_family() {
  static const Small family;
  return family;
}

}  // namespace tessera::gemm
