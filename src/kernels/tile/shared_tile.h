// An operand tile in shared memory in the layout that tensor copies write and wgmma reads. Rows
// have 128 bytes and are swizzled, so that eight rows of one 16-byte column are in different banks.
// A tile wider than a row consists of several panels of such rows, one after the other:
//
//   K-major   rows go along k, one for each m (or n): panel p has k from p * kRow on
//   MN-major  rows go along m (or n), one for each k: panel p has m from p * kRow on
//
// Element type, extents and swizzle are in the type; addresses and descriptors follow from them.
#pragma once

#include <cstdint>

#include "kernels/ptx/matrix_type.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/ptx/wgmma_descriptor.h"
#include "kernels/tile/extents.h"

namespace tessera::tile {

// `outer` is m of A, n of B.
template <ptx::MatrixType type_, int outer_, int k_, ptx::Major major_>
struct SharedTile {
  static constexpr ptx::MatrixType kType = type_;
  static constexpr ptx::Major kMajor = major_;
  static constexpr bool kKMajor = major_ == ptx::Major::kK;
  static constexpr int kOuter = outer_, kK = k_;
  static constexpr int kRow = kRowBytes * 8 / ptx::bits_of(type_);  // elements
  static constexpr int kAlong = kKMajor ? kK : kOuter;              // extent along the rows
  static constexpr int kRows = kKMajor ? kOuter : kK;               // per panel
  static constexpr int kPanels = (kAlong + kRow - 1) / kRow;
  static constexpr int kPanelBytes = kRows * kRowBytes;
  static constexpr int kBytes = kPanels * kPanelBytes;
  static_assert(kRows % 8 == 0, "panels are whole swizzle patterns");
  static_assert(!kKMajor || kK % kRow == 0, "a stage is whole rows of k");

  alignas(kAtomBytes) unsigned char bytes[kBytes];

  // The offset in bytes, without the swizzle, at which (outer, k) begins for wgmma.
  static constexpr int offset(int outer, int k) {
    const int along = kKMajor ? k : outer, row = kKMajor ? outer : k;
    return along / kRow * kPanelBytes + row * kRowBytes + along % kRow * ptx::bits_of(type_) / 8;
  }

  // The descriptor of a tile at this address. HW: with the 128-byte swizzle, the leading distance
  // is ignored in K-major tiles, and is the distance to the next panel in MN-major tiles.
  __device__ static std::uint64_t descriptor(std::uint32_t address) {
    return ptx::wgmma_descriptor(address, {.leading = kKMajor ? 16 : kPanelBytes,
                                           .stride = kAtomBytes,
                                           .swizzle = ptx::WgmmaSwizzle::k128B});
  }
  // The value to add to the tile's descriptor for an instruction that begins at (outer, k).
  static constexpr std::uint64_t step(int outer, int k) {
    return static_cast<std::uint64_t>(offset(outer, k)) >> 4;
  }
};

}  // namespace tessera::tile
