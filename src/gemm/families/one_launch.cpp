// Kernels that compute D in one launch, with a thread block for each tile of D: most rungs.
#include "gemm/families/shared/family.h"

namespace tessera::gemm {
namespace {

class OneLaunch final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = row_of_majors(one, request);
      if (Status status = check_grid(kernel, row, request); !status.ok()) return status;
      offers.push_back({.kernel = &kernel,
                        .row = &row,
                        .cost = cost_of_tiles({&row, one.tflops}, request.product.params,
                                              size_of(kernel.types.a), request.limits)});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    return {multiply_by_tiles(*offer.row, request.product)};
  }
};

}  // namespace

const Family& one_launch_family() {
  static const OneLaunch family;
  return family;
}

}  // namespace tessera::gemm
