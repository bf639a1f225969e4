// D of a BF16 matrix and a few rows of FP32, as FP32 arithmetic would have it, on tensor cores: the
// BF16 matrix (weights) is read once, as it is, straight into fragments; no ring, no shared memory.
//
//   terms      each FP32 number is cut, in registers, into three BF16 numbers of 8 bits each: the
//              upper half of its bits, that of the rest, and what is left. Exact, unless what is
//              left lies below BF16's smallest number (of numbers below 2^-110)
//   chains     tensor cores truncate, so a chain is 32 of k long, one of the highest terms and one
//   of
//              the others; ordinary adds promote both to the warp's sums
//   sums       of warps and CTAs that share k are added in a fixed order, the CTAs' through a
//   cluster by FMAs    an output that is not finite, or of which a term was lost, is computed again
//   by
//              FP32 FMAs: infinities, NaN and tiny numbers count as they do there
#include <cstdint>

#include "kernels/epilogue/output.h"
#include "kernels/families/mixed/products.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::mixed {

// One output in FP32 arithmetic alone.
__device__ inline float by_fma(const Matrices& m, long long line, long long row) {
  float sum = 0;
  for (long long k = 0; k < m.p.gemm.k; ++k) {
    const unsigned narrow = __ldg(m.narrow + line * m.p.narrow_line + k * m.p.narrow_k);
    sum = fmaf(__ldg(m.wide + row * m.p.wide_row + k * m.p.wide_k), __uint_as_float(narrow << 16),
               sum);
  }
  return sum;
}

// What the warps of a CTA leave for those of its cluster.
template <int columns>
struct Shared {
  float sums[kWarps][columns * kPitch];
  int has_lost;  // a term, of any of its warps
};

template <auto cfg>
__device__ void store_sums(Shared<cfg.columns>& shared,
                           const float (&sums)[cfg.columns / kColumns][kPieces][4], int loads,
                           std::uint32_t lost) {
  const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int c = 0; c < cfg.columns / kColumns; ++c) {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = c * kColumns + 2 * t + i % 2;
        shared.sums[warp][column * kPitch + line_of(piece, i / 2, group, loads)] =
            sums[c][piece][i];
      }
    }
  }
  const int any = __syncthreads_or((lost & 0xffff) != 0);
  if (threadIdx.x == 0) shared.has_lost = any;
}

// Where a cluster's tile begins, and whose product it is of. The last one begins earlier where that
// makes it whole; of its lines only those from `first` on are its own.
struct Tile {
  long long product, line, row, first;
};

template <auto cfg>
__device__ Tile tile_of(const Params& p) {
  const unsigned tile = blockIdx.x / ptx::cluster_size(), inside = tile % p.tiles;
  const long long lines = p.warps_of_lines * kLines;
  const long long first = static_cast<long long>(inside % p.tiles_of_lines) * lines;
  const bool may_move = p.lines >= lines && (p.loads == kAlongK || p.lines % 4 == 0);
  return {tile / p.tiles, may_move && first + lines > p.lines ? p.lines - lines : first,
          static_cast<long long>(inside / p.tiles_of_lines) * cfg.columns, first};
}

// Adds up the sums of warps that share k: those of the first ones remain.
// WHY before those of CTAs: what other CTAs hold takes long to arrive.
template <auto cfg>
__device__ void add_warps(Shared<cfg.columns>& shared, int warps_of_lines) {
  constexpr int kOfWarp = cfg.columns * kLines;
  for (int i = threadIdx.x; i < warps_of_lines * kOfWarp; i += cfg.threads()) {
    const int first = i / kOfWarp, at = i % kOfWarp / kLines * kPitch + i % kLines;
    float sum = shared.sums[first][at];
#pragma unroll
    for (int more = 1; more < kWarps; ++more) {
      const int warp = first + more * warps_of_lines;
      if (warp < kWarps) sum += shared.sums[warp][at];
    }
    shared.sums[first][at] = sum;
  }
}

// Adds up the outputs of a cluster's tile, each CTA a share of them, and stores them.
template <auto cfg>
__device__ void finish(Shared<cfg.columns>& shared, const Params& p) {
  const Tile tile = tile_of<cfg>(p);
  const auto at_memory = schedule::addresses_of(p.gemm, p.batch, tile.product);
  const Matrices m = matrices_of(p, at_memory);
  const auto output =
      epilogue::output_of<float, float>(schedule::with_addresses(p.gemm, at_memory));
  const int ctas = static_cast<int>(ptx::cluster_size());
  const int rank = static_cast<int>(ptx::cluster_rank());
  const bool is_a = p.bf16_is_a != 0;
  const int lines = p.warps_of_lines * kLines, all = lines * cfg.columns;
  for (int i = rank * cfg.threads() + threadIdx.x; i < all; i += ctas * cfg.threads()) {
    // Threads side by side store neighbours of D.
    const int of_lines = is_a ? i / cfg.columns : i % lines;
    const int column = is_a ? i % cfg.columns : i / lines;
    const long long line = tile.line + of_lines, row = tile.row + column;
    if (line < tile.first || line >= p.lines || row >= p.rows) continue;
    const int at = column * kPitch + of_lines % kLines;
    float sum = 0;
    int has_lost = 0;
#pragma unroll
    for (int cta = 0; cta < kMostCtas; ++cta) {
      if (cta >= ctas) continue;
      const Shared<cfg.columns>* theirs = ctas == 1 ? &shared : ptx::map_to_cta(&shared, cta);
      sum += theirs->sums[of_lines / kLines][at];
      has_lost |= theirs->has_lost;
    }
    if (has_lost || !(fabsf(sum) <= 3.40282347e38f)) sum = by_fma(m, line, row);
    output.store(is_a ? line : row, is_a ? row : line, sum);
  }
}

__device__ inline void sync_cluster() {
  if (ptx::cluster_size() == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync();
  }
}

template <auto cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  __shared__ Shared<cfg.columns> shared;
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  const Tile tile = tile_of<cfg>(p);
  const Matrices m = matrices_of(p, schedule::addresses_of(p.gemm, p.batch, tile.product));
  const int warp = threadIdx.x / 32, sharing = kWarps / p.warps_of_lines;
  float sums[cfg.columns / kColumns][kPieces][4] = {};
  std::uint32_t lost = 0;
  const Share share{tile.line + warp % p.warps_of_lines * kLines, tile.row,
                    static_cast<int>(ptx::cluster_rank()) * sharing + warp / p.warps_of_lines,
                    static_cast<int>(ptx::cluster_size()) * sharing};
  const int loads = multiply_share<cfg>(sums, m, share, lost);
  store_sums<cfg>(shared, sums, loads, lost);
  add_warps<cfg>(shared, p.warps_of_lines);
  sync_cluster();
  finish<cfg>(shared, p);
  sync_cluster();
}

}  // namespace tessera::mixed
