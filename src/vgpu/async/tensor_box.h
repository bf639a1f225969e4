// Finds the elements of a box, in the tensor and in shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/async/tensor_map.h"
#include "vgpu/async/transfer.h"

namespace tessera::vgpu {

struct TensorBox {
  const TensorMap& map;
  std::int32_t at[kMaxRank] = {};  // signed coordinates, innermost first

  std::uint32_t rows() const;
  std::uint32_t row_bytes() const { return map.box[0] * bytes_of(map.type); }
  std::uint32_t bytes() const { return rows() * row_bytes(); }
};

// Contiguous bytes of the tensor.
struct GlobalRange {
  std::uint64_t address = 0, bytes = 0;
};

// Appends the pieces of a load into each of these places in shared memory, or of a store from
// `from`. A load fills elements outside the tensor; a store omits 16-byte chunks that begin
// outside. Returns the parts of the tensor that are accessed.
std::vector<GlobalRange> add_load(const Site& site, const TensorBox& box,
                                  const std::vector<SharedPlace>& to, Transfer& transfer);
std::vector<GlobalRange> add_store(const Site& site, const TensorBox& box, const SharedPlace& from,
                                   Transfer& transfer);

// The fill value of elements outside the tensor, repeated over 16 bytes.
std::array<std::byte, 16> fill_of(const TensorMap& map);

}  // namespace tessera::vgpu
