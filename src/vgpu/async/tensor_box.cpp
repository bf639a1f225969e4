#include "vgpu/async/tensor_box.h"

#include <algorithm>
#include <cstring>

#include "vgpu/report/windows.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint32_t kChunk = 16;  // bytes: the unit of swizzles and of stores

std::uint64_t size_of(const TensorMap& map, int d) {
  return map.sizes[d] == 0 ? std::uint64_t{1} << 32 : map.sizes[d];
}

// HW: the innermost dimension has no element stride, except in interleaved maps (cuda.h,
// cuTensorMapEncodeTiled).
std::uint32_t steps_of(const TensorMap& map, int d) {
  return (map.box[d] + map.element_strides[d] - 1u) / map.element_strides[d];
}

// HW: a swizzle permutes 16-byte chunks by their address in shared memory. The 128-byte swizzle
// XORs address bits 4-6 with bits 7-9; the 64- and 32-byte swizzles do this with two and one of
// these bits (PTX ISA, swizzling modes).
std::uint32_t swizzled(MapSwizzle swizzle, std::uint32_t offset) {
  const std::uint32_t mask = (1u << static_cast<int>(swizzle)) - 1;
  const std::uint32_t address = offset + kSharedBase;
  return offset ^ ((address >> 7 & mask) << 4);
}
static_assert(kSharedBase % 1024 == 0);

struct Row {
  std::uint64_t address = 0;         // address of its first element in the tensor
  std::uint32_t begin = 0, end = 0;  // bytes of the row that lie in the tensor
};

Row row_of(const TensorBox& box, std::uint32_t index) {
  const TensorMap& map = box.map;
  Row row;
  row.address = map.address;
  bool inside = true;
  for (int d = 1; d < map.rank; ++d) {
    const std::uint32_t step = index % steps_of(map, d);
    index /= steps_of(map, d);
    const std::int64_t x = std::int64_t{box.at[d]} + std::int64_t{step} * map.element_strides[d];
    inside &= x >= 0 && static_cast<std::uint64_t>(x) < size_of(map, d);
    row.address += static_cast<std::uint64_t>(x) * map.strides[d - 1];
  }
  const auto element = static_cast<std::int64_t>(bytes_of(map.type));
  row.address += static_cast<std::uint64_t>(box.at[0] * element);
  if (!inside) return row;
  const std::int64_t length = map.box[0];
  const std::int64_t left = static_cast<std::int64_t>(size_of(map, 0)) - box.at[0];
  const std::int64_t begin = std::clamp<std::int64_t>(-std::int64_t{box.at[0]}, 0, length);
  row.begin = static_cast<std::uint32_t>(begin * element);
  row.end = static_cast<std::uint32_t>(std::clamp(left, begin, length) * element);
  return row;
}

// Calls f(host, position, bytes) for each part of the row's bytes [begin, end) that is contiguous
// in shared memory.
template <class F>
void for_each_part(const TensorBox& box, const SharedPlace& place, std::uint32_t row,
                   std::uint32_t begin, std::uint32_t end, F f) {
  std::byte* base = place.host - place.offset;
  const std::uint32_t first = place.offset + row * box.row_bytes();
  if (box.map.swizzle == MapSwizzle::kNone) {
    if (begin != end) f(base + first + begin, begin, end - begin);
    return;
  }
  while (begin < end) {
    const std::uint32_t inside = begin % kChunk;
    const std::uint32_t bytes = std::min(kChunk - inside, end - begin);
    f(base + swizzled(box.map.swizzle, first + begin - inside) + inside, begin, bytes);
    begin += bytes;
  }
}

void add_range(std::vector<GlobalRange>& ranges, const Row& row) {
  const std::uint64_t address = row.address + row.begin;
  if (!ranges.empty() && ranges.back().address + ranges.back().bytes == address) {
    ranges.back().bytes += row.end - row.begin;
  } else {
    ranges.push_back({address, row.end - row.begin});
  }
}

}  // namespace

std::uint32_t TensorBox::rows() const {
  std::uint32_t rows = 1;
  for (int d = 1; d < map.rank; ++d) rows *= steps_of(map, d);
  return rows;
}

std::vector<GlobalRange> add_load(const Site& site, const TensorBox& box,
                                  const std::vector<SharedPlace>& to, Transfer& transfer) {
  std::vector<GlobalRange> ranges;
  for (std::uint32_t r = 0; r < box.rows(); ++r) {
    const Row row = row_of(box, r);
    const std::byte* from = nullptr;
    if (row.begin != row.end) {
      from = global_place(site, row.address + row.begin, row.end - row.begin, 1);
      add_range(ranges, row);
    }
    const auto fill = [&](std::byte* host, std::uint32_t, std::uint32_t bytes) {
      transfer.pieces.push_back({nullptr, host, bytes});
    };
    for (const SharedPlace& place : to) {
      for_each_part(box, place, r, 0, row.begin, fill);
      for_each_part(box, place, r, row.begin, row.end,
                    [&](std::byte* host, std::uint32_t position, std::uint32_t bytes) {
                      transfer.pieces.push_back({from + (position - row.begin), host, bytes});
                    });
      for_each_part(box, place, r, row.end, box.row_bytes(), fill);
    }
  }
  transfer.fill = fill_of(box.map);
  return ranges;
}

// HW: a store omits only whole 16-byte chunks, those that begin outside the tensor. A chunk that
// begins inside is written to its end (measured on an H200). A load decides for each element.
std::vector<GlobalRange> add_store(const Site& site, const TensorBox& box, const SharedPlace& from,
                                   Transfer& transfer) {
  std::vector<GlobalRange> ranges;
  for (std::uint32_t r = 0; r < box.rows(); ++r) {
    Row row = row_of(box, r);
    if (row.begin == row.end) continue;
    row.end = std::min((row.end + kChunk - 1) / kChunk * kChunk, box.row_bytes());
    std::byte* to = global_place(site, row.address + row.begin, row.end - row.begin, 1);
    add_range(ranges, row);
    for_each_part(box, from, r, row.begin, row.end,
                  [&](std::byte* host, std::uint32_t position, std::uint32_t bytes) {
                    transfer.pieces.push_back({host, to + (position - row.begin), bytes});
                  });
  }
  return ranges;
}

std::array<std::byte, 16> fill_of(const TensorMap& map) {
  std::array<std::byte, 16> fill = {};
  if (!map.nan_fill) return fill;
  // In each element all bits but the sign are set, which is a NaN.
  fill.fill(std::byte{0xff});
  const std::uint32_t bytes = bytes_of(map.type);
  for (std::uint32_t at = bytes - 1; at < fill.size(); at += bytes) fill[at] = std::byte{0x7f};
  return fill;
}

}  // namespace tessera::vgpu
