// The launches of the kernels on Hopper's tensor cores: the steps that follow from the choices of
// an offer. The temps hold the partial sums, repacked A and repacked B.
#pragma once

#include <algorithm>
#include <vector>

#include "gemm/families/shared/family.h"
#include "kernels/families/wgmma/config.h"

namespace tessera::gemm {

inline const wgmma::Config& wgmma_config(const KernelRow& row) {
  return *static_cast<const wgmma::Config*>(row.config);
}

// An operand as rows in memory: `rows` rows of `inner` adjacent elements.
struct OperandRows {
  std::int64_t inner, rows, stride;  // elements

  // In elements, for a tensor map. A single row, whose stride is unused, gets a legal number.
  std::int64_t map_stride(int bytes) const {
    return rows > 1 ? stride : (std::max(inner, std::int64_t{1}) * bytes + 15) / 16 * 16 / bytes;
  }
};

// An operand, and how a config loads the operand.
struct LoadedOperand {
  OperandRows rows;    // the operand as it is in memory
  OperandRows wanted;  // the operand as the config loads it; the stride has no meaning
  bool transposed;     // one of `rows` and `wanted` is along k, the other is not
  bool must_repack;    // transposed, not aligned for TMA, or repacked by request
};

// Whether the matrices of the batch are at listed addresses.
inline bool is_listed(const Request& request) {
  return request.problem().batch.kind == BatchKind::kPointers;
}
// Whether one launch may multiply all products of a batch. Strided products are the third dimension
// of the tensor maps; listed matrices have a map each.
bool takes_batch(const wgmma::Config& config, const Request& request);

LoadedOperand operand_of(const wgmma::Config& config, const Request& request, bool is_a);
// The rows of an operand's repacked copy, with an aligned stride.
OperandRows repacked_rows(const LoadedOperand& operand, int element_bytes);

// The temps of an offer, in this order.
enum WgmmaTemp { kPartialSums, kRepackedA, kRepackedB, kListedMaps };

// The tiles of D, one per cluster, and the size in elements of the matrix that holds
// the sums of one part of k.
struct WgmmaTiles {
  std::int64_t tiles_m, tiles_n;
  std::int64_t rows_per_k_part, partial_ld;

  std::int64_t count() const { return tiles_m * tiles_n; }
};
WgmmaTiles wgmma_tiles(const wgmma::Config& config, const GemmParams& p);
// The k tiles of each part of k. All parts together may have more k tiles than k has.
std::int64_t k_tiles_of_a_part(const wgmma::Config& config, const GemmParams& p,
                               std::int64_t parts);

// The bytes of each temp; 0 for an operand that is not repacked, and for a temp without use.
std::vector<std::int64_t> wgmma_temps(const Decision& decision, const wgmma::Config& config,
                                      const Request& request);

// The steps of an offer, in order.
std::vector<Step> wgmma_steps(const Offer& offer, const Request& request);

}  // namespace tessera::gemm
