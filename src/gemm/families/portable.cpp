// The portable kernels on CUDA cores: one launch with a thread block for each tile of D. Tiles of a
// batch are numbered product after product.
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "kernels/families/simt/portable_params.h"

namespace tessera::gemm {
namespace {

// Threads that run at the same time on an SM, in a batch of small products: the registers suffice
// for this many. HW: with eight CTAs of 64 threads, the model predicts the measured times of 10000
// products of 32x32x32 and 4096 of 16x16x16 in FP64.
constexpr int kThreadsPerSm = 512;

class Portable final : public Family {
 public:
  bool takes(const Batch&) const override { return true; }

  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const GemmParams& p = request.product.params;
      const std::int64_t count = request.products();
      const KernelRow& row = row_of_majors(one, request);
      if (Status status = check_grid(kernel, row, request); !status.ok()) return status;
      if (tiles_of(row, p, count) > kMaxGrid) {
        return Status::unsupported("batch is " + describe(request.problem().batch) + ", but " +
                                   kernel.name + " would need more than 2^31 - 1 thread blocks");
      }
      const int ctas = count > 1 ? kThreadsPerSm / row.threads : 0;
      offers.push_back({.kernel = &kernel,
                        .row = &row,
                        .cost = cost_of_tiles({&row, one.tflops}, p, size_of(kernel.types.a),
                                              request.limits, count, ctas)});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    const std::int64_t tiles = tiles_of(row, request.product.params);
    portable::Params params{};
    params.gemm = request.product.params;
    params.batch = batch_of(request, 1);
    params.tiles = static_cast<unsigned>(tiles);
    Step step = step_of(Pass::kMultiply, row.entry,
                        {.grid = tiles * request.products(),
                         .block = row.threads,
                         .shared_bytes = row.shared_bytes},
                        params);
    patch_product(step, offsetof(portable::Params, gemm), request.product);
    return {step};
  }
};

}  // namespace

const Family& portable_family() {
  static const Portable family;
  return family;
}

}  // namespace tessera::gemm
