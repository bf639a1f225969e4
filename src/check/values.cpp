#include "check/values.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tessera::checking {
namespace {

constexpr std::size_t kAddressBytes = 8;
constexpr std::size_t kTensorMapBytes = 128;  // size of a CUtensorMap

// Returns the alignment of a tensor map in a struct. HW: tensor copies require 64 bytes, which is
// the alignment of CUtensorMap in CUDA 12. In CUDA 13 (cuda.h) its alignment is 128. A struct that
// holds a map has the map's alignment, or an unknown alignment (0).
std::size_t map_alignment_in(std::size_t alignment_of_whole) {
  return alignment_of_whole == 0 || alignment_of_whole >= 128 ? 128 : 64;
}

struct Extent {
  std::size_t bytes = kAddressBytes, alignment = kAddressBytes;
};

struct Layout {
  std::vector<std::size_t> offsets;
  Extent whole;
};

std::size_t align_up(std::size_t at, std::size_t to) { return (at + to - 1) / to * to; }

Layout layout_of(const StructArgument& structure, std::size_t map_alignment);

Extent extent_of(const Argument& argument, std::size_t map_alignment) {
  if (const auto* scalar = std::get_if<ScalarArgument>(&argument.value)) {
    const std::size_t bytes = tessera::size_of(scalar->type);
    return {bytes, bytes};
  }
  if (const auto* raw = std::get_if<BytesArgument>(&argument.value)) return {raw->bytes.size(), 1};
  if (const auto* structure = std::get_if<StructArgument>(&argument.value)) {
    return layout_of(*structure, map_alignment).whole;
  }
  if (std::holds_alternative<TensorMapArgument>(argument.value)) {
    return {kTensorMapBytes, map_alignment};
  }
  return {};
}

Layout layout_of(const StructArgument& structure, std::size_t map_alignment) {
  Layout layout;
  layout.whole = {0, 1};
  for (const Argument& field : structure.fields) {
    const Extent extent = extent_of(field, map_alignment);
    layout.whole.alignment = std::max(layout.whole.alignment, extent.alignment);
    layout.offsets.push_back(align_up(layout.whole.bytes, extent.alignment));
    layout.whole.bytes = layout.offsets.back() + extent.bytes;
  }
  layout.whole.bytes = align_up(layout.whole.bytes, layout.whole.alignment);
  return layout;
}

void put(const Argument& argument, const Placed& placed, std::size_t map_alignment, std::byte* to);

void put(const StructArgument& structure, const Placed& placed, std::size_t map_alignment,
         std::byte* to) {
  const Layout layout = layout_of(structure, map_alignment);
  for (std::size_t i = 0; i < structure.fields.size(); ++i) {
    put(structure.fields[i], placed, map_alignment, to + layout.offsets[i]);
  }
}

// Returns the address that an argument stands for.
std::uint64_t address_of(const Argument& argument, const Placed& placed) {
  if (std::holds_alternative<NullArgument>(argument.value)) return 0;
  if (const auto* alias = std::get_if<AliasArgument>(&argument.value)) {
    return placed.arrays.at(alias->array) + alias->offset;
  }
  if (std::holds_alternative<PointerArgument>(argument.value) ||
      std::holds_alternative<TextureArgument>(argument.value)) {
    return placed.pointees.at(argument.name);
  }
  return placed.arrays.at(argument.name);
}

void put(const Argument& argument, const Placed& placed, std::size_t map_alignment, std::byte* to) {
  if (const auto* scalar = std::get_if<ScalarArgument>(&argument.value)) {
    std::memcpy(to, scalar->value.data(), tessera::size_of(scalar->type));
  } else if (const auto* raw = std::get_if<BytesArgument>(&argument.value)) {
    std::copy(raw->bytes.begin(), raw->bytes.end(), to);
  } else if (const auto* structure = std::get_if<StructArgument>(&argument.value)) {
    put(*structure, placed, map_alignment, to);
  } else if (std::holds_alternative<TensorMapArgument>(argument.value)) {
    const std::vector<std::byte>& map = placed.maps.at(argument.name);
    std::copy(map.begin(), map.end(), to);
  } else {
    const std::uint64_t address = address_of(argument, placed);
    std::memcpy(to, &address, kAddressBytes);
  }
}

}  // namespace

std::size_t size_of(const StructArgument& structure, std::size_t alignment) {
  return layout_of(structure, map_alignment_in(alignment)).whole.bytes;
}

std::vector<std::byte> parameter_bytes(const vgpu::KernelSignature& kernel,
                                       const std::vector<Argument>& arguments,
                                       const Placed& placed) {
  std::vector<std::byte> bytes(kernel.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const vgpu::KernelParameter& to = kernel.parameters[i];
    put(arguments[i], placed, map_alignment_in(to.alignment), bytes.data() + to.offset);
  }
  return bytes;
}

std::vector<std::byte> value_bytes(const Argument& argument, const Placed& placed,
                                   std::size_t alignment) {
  const std::size_t map_alignment = map_alignment_in(alignment);
  std::vector<std::byte> value(extent_of(argument, map_alignment).bytes);
  put(argument, placed, map_alignment, value.data());
  return value;
}

std::vector<std::byte> pointer_bytes(const PointersArgument& pointers, const Placed& placed) {
  std::vector<std::byte> bytes(pointers.to.size() * kAddressBytes);
  for (std::size_t i = 0; i < pointers.to.size(); ++i) {
    const std::uint64_t address = address_of(pointers.to[i], placed);
    std::memcpy(bytes.data() + i * kAddressBytes, &address, kAddressBytes);
  }
  return bytes;
}

void for_each_part(const Argument& argument, const std::function<void(const Argument&)>& f) {
  if (const auto* structure = std::get_if<StructArgument>(&argument.value)) {
    for (const Argument& field : structure->fields) for_each_part(field, f);
  }
  if (const auto* pointer = std::get_if<PointerArgument>(&argument.value)) {
    for (const Argument& to : pointer->to) for_each_part(to, f);
  }
  if (const auto* pointers = std::get_if<PointersArgument>(&argument.value)) {
    for (const Argument& to : pointers->to) for_each_part(to, f);
  }
  f(argument);
}

std::vector<std::string> arrays_named_by(const Argument& argument) {
  std::vector<std::string> names;
  for_each_part(argument, [&](const Argument& part) {
    if (const auto* map = std::get_if<TensorMapArgument>(&part.value)) names.push_back(map->array);
    if (const auto* of = std::get_if<TextureArgument>(&part.value)) names.push_back(of->array);
    if (const auto* alias = std::get_if<AliasArgument>(&part.value)) names.push_back(alias->array);
  });
  return names;
}

}  // namespace tessera::checking
