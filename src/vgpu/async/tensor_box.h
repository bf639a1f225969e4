// The places of a box's elements, in the tensor and in shared memory.
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

// Neighbouring bytes of the tensor.
struct GlobalRange {
  std::uint64_t address = 0, bytes = 0;
};

// Appends the pieces of a load to each of these places in shared memory, or of a store from the
// first one. Elements outside of the tensor are filled by a load; a store leaves out the chunks of
// 16 bytes that begin outside. Returns the part of the tensor that is touched.
std::vector<GlobalRange> add_load(const Site& site, const TensorBox& box,
                                  const std::vector<SharedPlace>& to, Transfer& transfer);
std::vector<GlobalRange> add_store(const Site& site, const TensorBox& box, const SharedPlace& from,
                                   Transfer& transfer);

// The value of elements outside of the tensor, repeated over 16 bytes.
std::array<std::byte, 16> fill_of(const TensorMap& map);

}  // namespace tessera::vgpu
