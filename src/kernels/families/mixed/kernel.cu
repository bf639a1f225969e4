// Computes D of a BF16 matrix and a few rows of FP32 on tensor cores, as accurately as in FP32. The
// BF16 matrix (weights) is read only once, unconverted, directly into fragments.
//
//   terms    each FP32 number is split into three BF16 numbers of 8 bits each (terms.h). This is
//            exact, unless the remainder after the third is below BF16's smallest number, which
//            only happens to numbers below 2^-110.
//            If a CTA has 8 rows, each warp makes the terms that it needs, in registers; if a CTA
//            has more rows, it makes the terms once, in shared memory
//   chains   tensor cores truncate, so a chain of MMAs is 32 of k long; ordinary additions add it
//            to the warp's sums
//   sums     warps and CTAs that share k add their sums in a fixed order; CTAs through a cluster
//   by FMAs  an output that is not finite, or that lost bits, is computed again by FP32 FMAs, so
//            infinities, NaN and tiny numbers have the same effect as in FP32 arithmetic
#include <cstdint>

#include "kernels/epilogue/output.h"
#include "kernels/families/mixed/own_terms.h"
#include "kernels/families/mixed/shared_terms.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::mixed {

// Computes one output by FP32 FMAs alone.
__device__ inline float by_fma(const Matrices& m, long long line, long long row) {
  float sum = 0;
  for (long long k = 0; k < m.p.gemm.k; ++k) {
    const unsigned narrow = __ldg(m.narrow + line * m.p.narrow_line + k * m.p.narrow_k);
    sum = fmaf(__ldg(m.wide + row * m.p.wide_row + k * m.p.wide_k), __uint_as_float(narrow << 16),
               sum);
  }
  return sum;
}

// The sums of a CTA, which its cluster reads. They reuse the memory of terms and chunks.
template <auto cfg>
struct Shared {
  float sums[cfg.warps][cfg.rows * cfg.pitch()];
  int has_lost;  // 1: a term of any of its warps has lost bits
};

template <auto cfg>
__device__ void store_sums(Shared<cfg>& shared, const Sums<cfg>& sums, int loads,
                           std::uint32_t lost) {
  const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int rows = 0; rows < Sums<cfg>::kRowPieces; ++rows) {
#pragma unroll
    for (int piece = 0; piece < Sums<cfg>::kPieces; ++piece) {
#pragma unroll
      for (int i = 0; i < Sums<cfg>::kKept; ++i) {
        const int row = rows * kRows + i / 2 * 8 + group;
        shared.sums[warp][row * cfg.pitch() + line_of(piece, 2 * t + i % 2, loads)] =
            sums.of[rows][piece][i];
      }
    }
  }
  const int any = __syncthreads_or((lost & 0xffff) != 0);
  if (threadIdx.x == 0) shared.has_lost = any;
}

// The first line and row of a cluster's tile, and its product. The last tile begins earlier if it
// is then whole; it stores only lines from `first` on, since the tile before has its other lines.
struct Tile {
  long long product, line, row, first;
};

template <auto cfg>
__device__ Tile tile_of(const Params& p) {
  const unsigned tile = blockIdx.x / ptx::cluster_size(), inside = tile % p.tiles;
  const long long lines = p.warps_of_lines * cfg.lines;
  const long long first = static_cast<long long>(inside % p.tiles_of_lines) * lines;
  const bool may_move = p.lines >= lines && (p.loads == kAlongK || p.lines % 4 == 0);
  return {tile / p.tiles, may_move && first + lines > p.lines ? p.lines - lines : first,
          static_cast<long long>(inside / p.tiles_of_lines) * cfg.rows, first};
}

// Adds the sums of warps that share k to the sums of the first of these warps. WHY before the sums
// of CTAs are added: reading sums of other CTAs takes long.
template <auto cfg>
__device__ void add_warps(Shared<cfg>& shared, int warps_of_lines) {
  constexpr int kOfWarp = cfg.rows * cfg.lines;
  for (int i = threadIdx.x; i < warps_of_lines * kOfWarp; i += cfg.threads()) {
    const int first = i / kOfWarp, line = i % cfg.lines;
    const int at = i % kOfWarp / cfg.lines * cfg.pitch() + line;
    float sum = shared.sums[first][at];
#pragma unroll
    for (int more = 1; more < cfg.warps; ++more) {
      const int warp = first + more * warps_of_lines;
      if (warp < cfg.warps) sum += shared.sums[warp][at];
    }
    shared.sums[first][at] = sum;
  }
}

// Adds up the outputs of a cluster's tile and stores them; each CTA does a part.
template <auto cfg>
__device__ void finish(Shared<cfg>& shared, const Params& p) {
  const Tile tile = tile_of<cfg>(p);
  const auto at_memory = schedule::addresses_of(p.gemm, p.batch, tile.product);
  const Matrices m = matrices_of(p, at_memory);
  const auto output =
      epilogue::output_of<float, float>(schedule::with_addresses(p.gemm, at_memory));
  const int ctas = static_cast<int>(ptx::cluster_size());
  const int rank = static_cast<int>(ptx::cluster_rank());
  const bool is_a = p.bf16_is_a != 0;
  const int lines = p.warps_of_lines * cfg.lines, all = lines * cfg.rows;
  for (int i = rank * cfg.threads() + threadIdx.x; i < all; i += ctas * cfg.threads()) {
    // Neighbouring threads store neighbouring elements of D.
    const int of_lines = is_a ? i / cfg.rows : i % lines;
    const int column = is_a ? i % cfg.rows : i / lines;
    const long long line = tile.line + of_lines, row = tile.row + column;
    if (line < tile.first || line >= p.lines || row >= p.rows) continue;
    const int at = column * cfg.pitch() + of_lines % cfg.lines;
    float sum = 0;
    int has_lost = 0;
#pragma unroll
    for (int cta = 0; cta < kMostCtas; ++cta) {
      if (cta >= ctas) continue;
      const Shared<cfg>* theirs = ctas == 1 ? &shared : ptx::map_to_cta(&shared, cta);
      sum += theirs->sums[of_lines / cfg.lines][at];
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
  static_assert(is_legal(cfg) && sizeof(Shared<cfg>) <= cfg.shared_bytes());
  extern __shared__ __align__(16) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<cfg>*>(memory);
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  const Tile tile = tile_of<cfg>(p);
  const Matrices m = matrices_of(p, schedule::addresses_of(p.gemm, p.batch, tile.product));
  const int warp = threadIdx.x / 32, sharing = cfg.warps / p.warps_of_lines;
  const Share share{tile.line + warp % p.warps_of_lines * cfg.lines, tile.row,
                    static_cast<int>(ptx::cluster_rank()) * sharing + warp / p.warps_of_lines,
                    static_cast<int>(ptx::cluster_size()) * sharing};
  Sums<cfg> sums;
  std::uint32_t lost = 0;
  int loads;
  if constexpr (cfg.shares_terms()) {
    static_assert(sizeof(SharedTerms<cfg>) <= cfg.shared_bytes());
    loads = multiply_by_shared_terms<cfg>(sums, *reinterpret_cast<SharedTerms<cfg>*>(memory), m,
                                          share, tile.line, lost);
  } else {
    loads = multiply_by_own_terms<cfg>(sums, m, share, lost);
  }
  store_sums<cfg>(shared, sums, loads, lost);
  add_warps<cfg>(shared, p.warps_of_lines);
  sync_cluster();
  finish<cfg>(shared, p);
  sync_cluster();
}

}  // namespace tessera::mixed
