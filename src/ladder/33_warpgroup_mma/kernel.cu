// Rung 33: wgmma. One instruction multiplies 64 x 128 x 16 for four warps, and no thread loads a
// fragment: the tensor cores read A and B from shared memory by themselves, at their full rate.
//
// Rung 32 was limited by shared memory, from which each warp loads its own fragments, and then by
// mma.sync, which has 60 % of that rate here. Two descriptors of 64 bits give an instruction the
// address, the pattern distance and the swizzle of its tiles. A tile has rows of 128 bytes,
// and the row number permutes the eight 16-byte pieces of a row. cp.async fills the tiles.
//
//   tile/shared_tile.h       a tile in this layout, and its descriptor
//   mainloop/wgmma.h         multiply_stage(): the instructions of one tile
#include "kernels/epilogue/store_pairs.h"
#include "kernels/mainloop/wgmma.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/ptx/swizzle.h"
#include "kernels/ptx/wgmma_n128.h"
#include "kernels/tile/vector.h"
#include "ladder/33_warpgroup_mma/config.h"
#include "ladder/shared/common.h"
#include "ladder/shared/store_sums.h"

namespace tessera::warpgroup_mma {

using Element = std::uint16_t;    // the bits of a BF16
inline constexpr int kPiece = 8;  // elements in 16 bytes
inline constexpr auto kBf16 = ptx::MatrixType::kBF16;

template <Config cfg>
struct Shared {
  using A = tile::SharedTile<kBf16, cfg.block.m, cfg.block.k, ptx::Major::kK>;   // rows are k
  using B = tile::SharedTile<kBf16, cfg.block.n, cfg.block.k, ptx::Major::kMn>;  // rows are n

  A a;
  B b;
};

// An operand in terms of the rows of its shared tile: neighbours in a row are `step` elements
// apart, rows `stride` elements. The step is 1 in the layout that the tile is designed for.
struct Rows {
  const Element* data;
  long long along, rows;  // extents
  long long step, stride;
};

// Copies 16 bytes at a time if the base address and the stride allow it, else single elements.
template <int threads, class Tile>
__device__ void copy_tile(Tile& tile, const Rows& from, long long first_along,
                          long long first_row) {
  constexpr int kPerRow = Tile::kAlong / kPiece;
  const bool vectors = from.step == 1 && tile::allows_vectors<Element>(from.data, from.stride);
#pragma unroll 4
  for (int i = 0; i < Tile::kRows * kPerRow / threads; ++i) {
    const int piece = i * threads + static_cast<int>(threadIdx.x);
    const int row = piece / kPerRow, at = piece % kPerRow * kPiece;
    const long long r = first_row + row, c = first_along + at;
    const int count = r < from.rows ? tile::inside(c, from.along, kPiece) : 0;
    const Element* source = from.data + r * from.stride + c * from.step;
    const int offset = at / Tile::kRow * Tile::kPanelBytes + row * tile::kRowBytes +
                       at % Tile::kRow * static_cast<int>(sizeof(Element));
    auto* to = reinterpret_cast<Element*>(tile.bytes + ptx::swizzle_128b(offset));
    if (vectors) {
      ptx::cp_async_past_l1(to, source, count * sizeof(Element));
    } else {
#pragma unroll 1
      for (int e = 0; e < kPiece; ++e) to[e] = e < count ? source[e * from.step] : Element{0};
    }
  }
}

template <Config cfg>
__device__ void run(const GemmParams& p) {
  static_assert(is_legal(cfg) && sizeof(Shared<cfg>) <= cfg.shared_bytes());
  if (p.k == 0) return epilogue::store_without_sums<ElementType::kBf16>(p);
  using A = typename Shared<cfg>::A;
  using B = typename Shared<cfg>::B;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<cfg>*>(memory);
  const ladder::BlockOrigin origin = ladder::block_origin(p, cfg.block.m, cfg.block.n);
  const Rows a{static_cast<const Element*>(p.a), p.k, p.m, p.a_col, p.a_row};
  const Rows b{static_cast<const Element*>(p.b), p.n, p.k, p.b_col, p.b_row};
  const std::uint64_t of_a = A::descriptor(ptx::shared_address(&shared.a));
  const std::uint64_t of_b = B::descriptor(ptx::shared_address(&shared.b));

  tile::Accumulators<cfg.rows(), cfg.block.n> sums;
  for (long long k = 0; k < p.k; k += cfg.block.k) {
    copy_tile<cfg.threads()>(shared.a, a, k, origin.row);
    copy_tile<cfg.threads()>(shared.b, b, origin.col, k);
    ptx::cp_async_wait_all();
    ptx::fence_proxy_async_shared();  // WHY: wgmma reads through the async proxy
    __syncthreads();
    sums.pin();
    ptx::wgmma_fence();
    mainloop::multiply_stage<A, B>(sums, of_a, of_b, k == 0);
    ptx::wgmma_wait_group<0>();
    sums.pin();
    __syncthreads();
  }
  ladder::store_sums<cfg.block.n>(sums, p, origin.row, origin.col, 0);
}

}  // namespace tessera::warpgroup_mma
