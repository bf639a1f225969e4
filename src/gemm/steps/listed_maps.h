// The step before a product of a batch of listed matrices, which makes a tensor map for each
// matrix, in a temp: the maps of A, then of B, then of D.
#pragma once

#include <optional>

#include "gemm/steps/step.h"

namespace tessera::gemm {

// An operand of the batch.
struct ListedOperand {
  TensorMapDesc desc;   // of one matrix, without an address
  PlannedAddress list;  // of the addresses
};

std::int64_t bytes_of_listed_maps(std::int64_t products);
// `maps`: the temp for the maps. A D that tensor copies do not store has no maps.
Step listed_maps_step(const ListedOperand& a, const ListedOperand& b,
                      const std::optional<ListedOperand>& d, std::int64_t products,
                      const PlannedAddress& maps);

}  // namespace tessera::gemm
