// Rungs that multiply packed blocks: two launches that pack A and B, each padded to whole blocks,
// into the workspace, then one that multiplies them.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "gemm/family.h"

namespace tessera::gemm {
namespace {

constexpr int kPackThreads = 256;

__int128 padded(std::int64_t rows, int block_rows, std::int64_t columns, int block_columns) {
  return static_cast<__int128>(tiles_along(rows, block_rows)) * block_rows *
         tiles_along(columns, block_columns) * block_columns;
}

// Bytes of packed A, and of both.
struct Packed {
  __int128 a, all;
};
Packed packed_bytes(const KernelRow& row, const GemmParams& p, int element_bytes) {
  if (p.k == 0) return {0, 0};  // nothing is read, so nothing is packed
  const __int128 a = padded(p.m, row.block.m, p.k, row.block.k);
  const __int128 b = padded(p.k, row.block.k, p.n, row.block.n);
  return {a * element_bytes, (a + b) * element_bytes};
}

// A thread for each element of the padded matrix.
PlannedLaunch pack(const std::string& entry, const PackParams& params, const Place& from,
                   const Place& to, std::int64_t padded_elements) {
  const std::int64_t blocks = (padded_elements + kPackThreads - 1) / kPackThreads;
  PlannedLaunch launch =
      launch_of(entry, {.grid = std::min(blocks, kMaxGrid), .block = kPackThreads}, params);
  launch.addresses = {{offsetof(PackParams, source), from}, {offsetof(PackParams, packed), to}};
  return launch;
}

class PackedRung final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    const GemmParams& p = request.product.params;
    for (const Variant& one : variants_with_rates(kernel, request.limits)) {
      if (!variant.empty() && one.name() != variant) continue;
      const KernelRow& row = row_of_majors(one, request);
      if (Status status = check_grid(kernel, row, request); !status.ok()) return status;
      const __int128 bytes = packed_bytes(row, p, size_of(kernel.types.a)).all;
      // WHY: padding makes thin matrices larger, up to a block's edge times what the caller holds.
      if (bytes > std::numeric_limits<std::int64_t>::max()) {
        return Status::unsupported(
            "k is " + std::to_string(p.k) +
            ", but the packed copies of A and B must fit a signed 64-bit number of bytes");
      }
      offers.push_back(
          {&kernel, &row,
           cost_of_tiles({&row, one.tflops}, p, size_of(kernel.types.a), request.limits),
           request.is_empty() ? 0 : static_cast<std::int64_t>(bytes)});
    }
    return {};
  }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    Product product = request.product;
    const GemmParams& p = product.params;
    if (p.k == 0) return {multiply_by_tiles(row, product)};
    const int element_bytes = size_of(offer.kernel->types.a);
    const Packed bytes = packed_bytes(row, p, element_bytes);
    const Place a{Slot::kWorkspace, 0};
    const Place b{Slot::kWorkspace, static_cast<std::int64_t>(bytes.a)};
    const PackParams pack_a{nullptr, nullptr, p.m, p.k, p.a_row, p.a_col};
    const PackParams pack_b{nullptr, nullptr, p.k, p.n, p.b_row, p.b_col};
    std::vector<PlannedLaunch> launches = {
        pack(row.entry + "__pack_a", pack_a, product.a, a,
             static_cast<std::int64_t>(bytes.a / element_bytes)),
        pack(row.entry + "__pack_b", pack_b, product.b, b,
             static_cast<std::int64_t>((bytes.all - bytes.a) / element_bytes))};
    product.a = a;
    product.b = b;
    launches.push_back(multiply_by_tiles(row, product));
    return launches;
  }
};

}  // namespace

const Family& packed_family() {
  static const PackedRung family;
  return family;
}

}  // namespace tessera::gemm
