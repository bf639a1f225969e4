// Rungs that multiply packed blocks: two launches pack A and B into the workspace, padded to whole
// blocks, and a third launch multiplies the packed operands.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "gemm/families/shared/family.h"

namespace tessera::gemm {
namespace {

constexpr int kPackThreads = 256;

__int128 padded(std::int64_t rows, int block_rows, std::int64_t columns, int block_columns) {
  return static_cast<__int128>(ceil_div(rows, block_rows)) * block_rows *
         ceil_div(columns, block_columns) * block_columns;
}

// Bytes of packed A and of packed B.
struct Packed {
  __int128 a, b;
};
Packed packed_bytes(const KernelRow& row, const GemmParams& p, int element_bytes) {
  if (p.k == 0) return {0, 0};  // nothing is read, so nothing is packed
  const __int128 a = padded(p.m, row.block.m, p.k, row.block.k);
  const __int128 b = padded(p.k, row.block.k, p.n, row.block.n);
  return {a * element_bytes, b * element_bytes};
}

// The step that packs A or B, with one thread for each element of the padded matrix.
Step pack(const std::string& entry, const PackParams& params, const PlannedAddress& from,
          const PlannedAddress& to, std::int64_t padded_elements) {
  const std::int64_t blocks = ceil_div(padded_elements, kPackThreads);
  Step step = step_of(Pass::kPack, entry,
                      {.grid = std::min(blocks, kMaxGrid), .block = kPackThreads}, params);
  step.addresses = {{offsetof(PackParams, source), from},
                    {offsetof(PackParams, packed), to, Use::kWritten}};
  return step;
}

class PackedRung final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const GemmParams& p = request.product.params;
      const KernelRow& row = row_of_majors(one, request);
      if (Status status = check_grid(kernel, row, request); !status.ok()) return status;
      const Packed bytes = packed_bytes(row, p, size_of(kernel.types.a));
      // WHY: padding multiplies the bytes of a thin matrix, by as much as a block's edge.
      if (bytes.a + bytes.b > std::numeric_limits<std::int64_t>::max() - kWorkspaceAlignment) {
        return Status::unsupported(
            "k is " + std::to_string(p.k) +
            ", but the packed copies of A and B must fit a signed 64-bit number of bytes");
      }
      offers.push_back(
          {.kernel = &kernel,
           .row = &row,
           .cost = cost_of_tiles({&row, one.tflops}, p, size_of(kernel.types.a), request.limits),
           .temps = {static_cast<std::int64_t>(bytes.a), static_cast<std::int64_t>(bytes.b)}});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    Product product = request.product;
    const GemmParams& p = product.params;
    if (p.k == 0) return {multiply_by_tiles(row, product)};
    const int element_bytes = size_of(offer.kernel->types.a);
    const PlannedAddress a = request.temp(0), b = request.temp(1);
    const PackParams pack_a{nullptr, nullptr, p.m, p.k, p.a_row, p.a_col};
    const PackParams pack_b{nullptr, nullptr, p.k, p.n, p.b_row, p.b_col};
    std::vector<Step> steps = {
        pack(row.entry + "__pack_a", pack_a, product.a, a, offer.temps[0] / element_bytes),
        pack(row.entry + "__pack_b", pack_b, product.b, b, offer.temps[1] / element_bytes)};
    product.a = a;
    product.b = b;
    steps.push_back(multiply_by_tiles(row, product));
    return steps;
  }
};

}  // namespace

const Family& packed_family() {
  static const PackedRung family;
  return family;
}

}  // namespace tessera::gemm
