// What the kernels on Hopper's tensor cores are launched with: what an offer has settled, and the
// steps that follow from it. The temps are the partial sums, repacked A and repacked B.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gemm/families/shared/family.h"
#include "kernels/families/wgmma/config.h"

namespace tessera::gemm {

inline const wgmma::Config& wgmma_config(const KernelRow& row) {
  return *static_cast<const wgmma::Config*>(row.config);
}

// An operand as its rows lie in memory: `inner` neighbours, `rows` of them.
struct OperandRows {
  std::int64_t inner, rows, stride;  // elements

  // With one row the stride is unused.
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

// What an offer has settled.
class WgmmaDecision final : public Decision {
 public:
  bool is_exchanged = false;  // all below is said of the product with its operands exchanged
  bool repack_a = false, repack_b = false;
  bool is_split = false;  // sums go to the workspace
  std::int64_t parts = 1, k_tiles = 0;
  std::int64_t tiles_m = 0, tiles_n = 0;  // of clusters
  std::int64_t part_rows = 0, partial_ld = 0;

  std::int64_t tiles() const { return tiles_m * tiles_n; }

  // "128 tiles; k in 4 parts; A repacked"
  std::string text() const override {
    std::string text = std::to_string(tiles()) + (tiles() == 1 ? " tile" : " tiles");
    if (is_split) {
      text += "; k in " + std::to_string(parts) + (parts == 1 ? " part" : " parts");
    }
    if (is_exchanged) text += "; exchanged";
    if (repack_a) text += repack_b ? "; A and B repacked" : "; A repacked";
    if (repack_b && !repack_a) text += "; B repacked";
    return text;
  }
};

// Bytes of each temp; those of operands that stay as they are are 0.
std::vector<std::int64_t> wgmma_temps(const WgmmaDecision& decision, const wgmma::Config& config,
                                      const Request& request);

// In order. `offer` holds a WgmmaDecision.
std::vector<Step> wgmma_steps(const Offer& offer, const Request& request);

}  // namespace tessera::gemm
