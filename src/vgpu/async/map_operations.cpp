// Modifies tensor maps in a kernel: tensormap.replace, and the copy that publishes a modified map.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/async/operations.h"
#include "vgpu/async/parts.h"
#include "vgpu/async/tensor_map.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint64_t kMapAlignment = 64;

struct MapPlace {
  std::byte* host = nullptr;
  Window window = Window::kGlobal;
  std::uint64_t address = 0;  // the address that observers get
  std::uint32_t owner = 0;
};

MapPlace map_place(const Site& site, std::uint64_t address) {
  const std::uint64_t in_window = address - kSharedWindow;
  if (address < (std::uint64_t{kMaxCluster} << kRankShift) || in_window < kWindowBytes) {
    const SharedPlace place = shared_place(site, address, kMapBytes, kMapAlignment, false);
    return {place.host, Window::kShared, place.offset, place.owner};
  }
  return {global_place(site, address, kMapBytes, kMapAlignment), Window::kGlobal, address, 0};
}

// Reports an access to the whole map, in pieces of 16 bytes.
void tell(const Site& site, AccessKind kind, const MapPlace& place) {
  Observer* observer = site.warp->cta().observer();
  if (!observer) return;
  for (std::uint64_t at = 0; at < kMapBytes; at += 16) {
    std::uint64_t addresses[kLanes];
    std::fill_n(addresses, kLanes, place.address + at);
    WarpAccess access;
    access.by = site.actor();
    access.kind = kind;
    access.window = place.window;
    access.bytes = 16;
    access.owner = place.owner;
    access.address = addresses;
    observer->access(access);
  }
}

// HW: element type numbers of tensormap.replace (PTX ISA, .elemtype). In cuda.h the numbers 8 to 10
// stand for other types.
MapType type_numbered(const Site& site, std::uint64_t number) {
  constexpr MapType kTypes[] = {MapType::kU8,     MapType::kU16, MapType::kU32,  MapType::kS32,
                                MapType::kU64,    MapType::kS64, MapType::kF16,  MapType::kF32,
                                MapType::kF32Ftz, MapType::kF64, MapType::kBf16, MapType::kTf32,
                                MapType::kTf32Ftz};
  if (number >= std::size(kTypes)) {
    site.fault(FaultKind::kUnsupported, fmt::format("element type {} of tensor maps", number));
  }
  return kTypes[number];
}

void set_field(const Site& site, TensorMap& map, MapField field, std::size_t ordinal,
               std::uint64_t value) {
  switch (field) {
    case MapField::kAddress:
      map.address = value;
      return;
    case MapField::kRank:
      map.rank = static_cast<std::uint8_t>(value + 1);
      return;
    case MapField::kBox:
      map.box[ordinal] = static_cast<std::uint16_t>(value);
      return;
    case MapField::kSize:
      map.sizes[ordinal] = static_cast<std::uint32_t>(value);
      return;
    case MapField::kStride:
      map.strides[ordinal] = value;
      return;
    case MapField::kElementStride:
      map.element_strides[ordinal] = static_cast<std::uint8_t>(ordinal == 0 ? 1 : value);
      return;
    case MapField::kType:
      map.type = type_numbered(site, value);
      return;
    case MapField::kInterleave:
      if (value != 0) site.fault(FaultKind::kUnsupported, "interleaved tensor maps");
      return;
    case MapField::kSwizzle:
      if (value > 3) site.fault(FaultKind::kUnsupported, "this swizzle of tensor maps");
      map.swizzle = static_cast<MapSwizzle>(value);
      return;
    case MapField::kFill:
      map.nan_fill = value != 0;
      return;
  }
}

}  // namespace

void map_replace(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    for_each_lane(lanes.mask, [&](int lane) {
      const Site site = site_of(lanes, *first, lane);
      const MapPlace place = map_place(site, register_of<std::uint64_t>(lanes, *first, 0, lane));
      TensorMap map;
      std::memcpy(&map, place.host, sizeof map);
      if (map.magic != kMapMagic) {
        site.fault_with(FaultKind::kOutOfBounds, kNoMap, kNoMapHint);
      }
      set_field(site, map, MapField(first->flags), static_cast<std::size_t>(first->immediate),
                register_of<std::uint64_t>(lanes, *first, 1, lane));
      tell(site, AccessKind::kStore, place);
      std::memcpy(place.host, &map, sizeof map);
    });
  }
}

// The lanes of the warp copy the map together; here one lane does it.
void map_publish(const Op* op, const Op*, Lanes& lanes) {
  const Site site = site_of(lanes, *op, __builtin_ctz(lanes.mask));
  const MapPlace to = map_place(site, register_of<std::uint64_t>(lanes, *op, 0, site.lane));
  const MapPlace from = map_place(site, register_of<std::uint64_t>(lanes, *op, 1, site.lane));
  tell(site, AccessKind::kLoad, from);
  tell(site, AccessKind::kStore, to);
  std::memcpy(to.host, from.host, kMapBytes);
  if (lanes.observer) {
    lanes.observer->fence(lanes.warp->actor(*op, lanes.mask), FenceKind::kProxyTensormap,
                          MemoryScope(op->flags >> kScopeShift & kScopeMask));
  }
}

}  // namespace tessera::vgpu
