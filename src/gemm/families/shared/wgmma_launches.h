// The launches of the kernels on Hopper's tensor cores: the choices of an offer, and the steps that
// follow from them. The temps are the partial sums, repacked A and repacked B.
#pragma once

#include <algorithm>
#include <vector>

#include "gemm/families/shared/family.h"
#include "kernels/families/wgmma/config.h"

namespace tessera::gemm {

inline const wgmma::Config& wgmma_config(const KernelRow& row) {
  return *static_cast<const wgmma::Config*>(row.config);
}

// An operand by its rows in memory: `inner` adjacent elements, `rows` of them.
struct OperandRows {
  std::int64_t inner, rows, stride;  // elements

  // The stride of a single row is not used.
  std::int64_t map_stride(int bytes) const {
    return rows > 1 ? stride : (std::max(inner, std::int64_t{1}) * bytes + 15) / 16 * 16 / bytes;
  }
};

// One operand of one row of configs.
struct LoadedOperand {
  OperandRows rows;    // as it is in memory
  OperandRows wanted;  // as the row loads it, its stride aside
  bool transposed;     // the one is along k, the other is not
  bool must_repack;    // transposed, or not aligned
};

// Whether one launch may multiply all products of a strided batch: by tensor maps of three
// dimensions.
bool takes_batch(const wgmma::Config& config, const Request& request);

LoadedOperand operand_of(const wgmma::Config& config, const Request& request, bool is_a);
// Its copy: rows of whole lines.
OperandRows repacked_rows(const LoadedOperand& operand, int element_bytes);

// The temps of an offer.
enum WgmmaTemp { kPartialSums, kRepackedA, kRepackedB };

// The tiles of a product as a config multiplies it, those of clusters, and one of the matrices that
// hold the sums of a part of k.
struct WgmmaTiles {
  std::int64_t tiles_m, tiles_n;
  std::int64_t rows_per_k_part, partial_ld;

  std::int64_t count() const { return tiles_m * tiles_n; }
};
WgmmaTiles wgmma_tiles(const wgmma::Config& config, const GemmParams& p);
// The k tiles of one part. All parts together may have more than k has.
std::int64_t k_tiles_of_a_part(const wgmma::Config& config, const GemmParams& p,
                               std::int64_t parts);

// Bytes of each temp; those of operands that stay as they are are 0.
std::vector<std::int64_t> wgmma_temps(const Decision& decision, const wgmma::Config& config,
                                      const Request& request);

// In order.
std::vector<Step> wgmma_steps(const Offer& offer, const Request& request);

}  // namespace tessera::gemm
