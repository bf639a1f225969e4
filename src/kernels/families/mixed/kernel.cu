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
//
// Lane 4g + t of a warp holds k = 8t ... 8t+7 of each chunk, of lines g and g + 8 of each fragment.
// The instruction numbers its k otherwise, but both operands alike.
#include <cstdint>

#include "kernels/epilogue/output.h"
#include "kernels/families/mixed/config.h"
#include "kernels/families/mixed/params.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/mma.h"
#include "kernels/schedule/product_of.h"

namespace tessera::mixed {

inline constexpr int kPieces = kLines / 16;  // fragments of lines of a warp
inline constexpr int kOfLane = 8;            // of a chunk's k
inline constexpr int kPitch = kLines + 1;    // of a column of sums

// One product. WHY the sizes stay among the parameters: those are no registers.
struct Matrices {
  const Params& p;
  const std::uint16_t* narrow;
  const float* wide;
};

__device__ inline Matrices matrices_of(const Params& p, const schedule::Addresses& at) {
  const bool is_a = p.bf16_is_a != 0;
  return {p, static_cast<const std::uint16_t*>(is_a ? at.a : at.b),
          static_cast<const float*>(is_a ? at.b : at.a)};
}

// The place of a fragment's line among those of the warp.
__device__ inline int line_of(int piece, int half, int group, int loads) {
  return loads == kAlongLines ? 4 * group + 2 * piece + half : 16 * piece + 8 * half + group;
}

// One chunk of k on its way: 32 lines of BF16, pairs of them, and the rows of FP32.
template <int columns>
struct Chunk {
  std::uint32_t narrow[kPieces * 2 * kOfLane / 2];
  float wide[columns / kColumns][kOfLane];
};

// Four neighbours across k, of lines that are all there; zeros beyond the end of k.
__device__ inline uint2 load_across(const Matrices& m, long long line, long long k) {
  if (k >= m.p.gemm.k) return {0, 0};
  return __ldg(reinterpret_cast<const uint2*>(m.narrow + line + k * m.p.narrow_k));
}

// Pairs along k of one line, one element at a time.
__device__ inline std::uint32_t load_pair(const Matrices& m, long long line, long long k) {
  const std::uint16_t* const from = m.narrow + line * m.p.narrow_line + k * m.p.narrow_k;
  const std::uint32_t low = k < m.p.gemm.k ? __ldg(from) : 0;
  const std::uint32_t high = k + 1 < m.p.gemm.k ? __ldg(from + m.p.narrow_k) : 0;
  return low | high << 16;
}

// One chunk of a warp's lines, in the form in which whole chunks come.
template <int words>
__device__ void load_narrow(std::uint32_t (&to)[words], const Matrices& m, long long first,
                            long long k, int group, int loads) {
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) {
    if (loads == kAlongLines) {
      const uint2 x = load_across(m, first + 4 * group, k + i);
      to[2 * i] = x.x, to[2 * i + 1] = x.y;
    } else {
      const long long wanted = first + 8 * (i / 2) + group;
      const long long line =
          wanted < m.p.lines ? wanted : m.p.lines - 1;  // of which no sum is stored
      to[2 * i] = load_pair(m, line, k + 4 * (i % 2));
      to[2 * i + 1] = load_pair(m, line, k + 4 * (i % 2) + 2);
    }
  }
}

template <int count>
__device__ void load_wide(float (&to)[count][kOfLane], const Matrices& m, long long first,
                          long long k, int group) {
#pragma unroll
  for (int c = 0; c < count; ++c) {
    const long long wanted = first + c * kColumns + group;
    const long long row = wanted < m.p.rows ? wanted : m.p.rows - 1;
    const float* const from = m.wide + row * m.p.wide_row + k * m.p.wide_k;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i)
      to[c][i] = k + i < m.p.gemm.k ? __ldg(from + i * m.p.wide_k) : 0;
  }
}

// What came across k, as pairs along k: those of line (piece, half) in four words side by side.
template <int words>
__device__ void pair_along_k(std::uint32_t (&x)[words]) {
  std::uint32_t pairs[words];
#pragma unroll
  for (int i = 0; i < kPieces * 2; ++i) {
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      pairs[4 * i + pair] =
          __byte_perm(x[4 * pair + i / 2], x[4 * pair + 2 + i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
    }
  }
#pragma unroll
  for (int i = 0; i < words; ++i) x[i] = pairs[i];
}

// Three terms of two numbers: words of two BF16 each, the highest first. Returns the bits that no
// term holds, in the lower half.
__device__ inline std::uint32_t split(float x, float y, std::uint32_t (&terms)[3]) {
  constexpr unsigned kUpper = 0xffff0000u, kUpperHalves = 0x7632;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const unsigned of_x = __float_as_uint(x), of_y = __float_as_uint(y);
    terms[i] = __byte_perm(of_x, of_y, kUpperHalves);
    if (i == 2) return of_x | of_y;
    x -= __uint_as_float(of_x & kUpper);
    y -= __uint_as_float(of_y & kUpper);
  }
  return 0;
}

// Terms of a lane's numbers in one instruction's columns: pairs along k, each in three words.
struct Terms {
  std::uint32_t of_pair[4][3];
};

__device__ inline Terms terms_of(const float (&x)[kOfLane], std::uint32_t& lost) {
  Terms terms;
#pragma unroll
  for (int i = 0; i < 4; ++i) lost |= split(x[2 * i], x[2 * i + 1], terms.of_pair[i]);
  return terms;
}

// Adds the products of a chunk to the sums of a warp, the columns of a few instructions at a time,
// whose terms `of_columns` has. WHY their chains side by side: an instruction waits for the one
// before it in its chain.
template <int columns, int words, class OfColumns>
__device__ void multiply(float (&sums)[columns / kColumns][kPieces][4],
                         const std::uint32_t (&narrow)[words], OfColumns of_columns) {
  constexpr int kAll = columns / kColumns, kTogether = kAll < 2 ? kAll : 2;
#pragma unroll
  for (int first = 0; first < kAll; first += kTogether) {
    Terms terms[kTogether];
    float low[kTogether][kPieces][4] = {}, high[kTogether][kPieces][4] = {};
#pragma unroll
    for (int c = 0; c < kTogether; ++c) terms[c] = of_columns(first + c);
    const auto add = [&](float(&chain)[4], int c, int piece, int half, int term) {
      const std::uint32_t* const from = &narrow[8 * piece + 2 * half];
      const std::uint32_t a[4] = {from[0], from[4], from[1], from[5]};
      const std::uint32_t b[2] = {terms[c].of_pair[2 * half][term],
                                  terms[c].of_pair[2 * half + 1][term]};
      ptx::mma_m16n8k16<ptx::MatrixType::kBF16>(chain, a, b);
    };
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int i = 0; i < kTogether * kPieces; ++i) {
        const int c = i / kPieces, piece = i % kPieces;
        add(low[c][piece], c, piece, step % 2, step < 2 ? 2 : 1);
        if (step < 2) add(high[c][piece], c, piece, step, 0);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether * kPieces * 4; ++i) {
      const int c = i / (kPieces * 4), piece = i / 4 % kPieces;
      sums[first + c][piece][i % 4] += high[c][piece][i % 4] + low[c][piece][i % 4];
    }
  }
}

// The same of a chunk that the warp has read for itself.
template <int columns>
__device__ void multiply(float (&sums)[columns / kColumns][kPieces][4], Chunk<columns>& chunk,
                         bool is_across, std::uint32_t& lost) {
  if (is_across) pair_along_k(chunk.narrow);
  multiply<columns>(sums, chunk.narrow, [&](int c) { return terms_of(chunk.wide[c], lost); });
}

// The place of a warp's work: its first line and row, and the chunks `first`, `first` + `step`, ...
struct Share {
  long long line, row;
  int first, step;
};

// What each lane reads of whole chunks of a warp whose lines are all there.
// WHY apart from loads that check: with those in the loop, addresses took the registers of stages.
template <int columns, bool is_across, bool wide_is_along_k>
struct WholeChunks {
  const std::uint16_t* narrow;
  const float* wide[columns / kColumns];
  long long narrow_step, wide_step;  // elements from chunk to chunk of the warp
  long long narrow_pitch;            // between lines, or along k
  long long wide_k;

  __device__ WholeChunks(const Matrices& m, const Share& share)
      : narrow_step(share.step * kChunk * m.p.narrow_k),
        wide_step(share.step * kChunk * m.p.wide_k),
        narrow_pitch(is_across ? m.p.narrow_k : 8 * m.p.narrow_line),
        wide_k(m.p.wide_k) {
    const int group = threadIdx.x % 32 / 4;
    const long long k = static_cast<long long>(share.first) * kChunk + threadIdx.x % 4 * kOfLane;
    const long long line = share.line + (is_across ? 4 * group : group);
    narrow = m.narrow + line * m.p.narrow_line + k * m.p.narrow_k;
#pragma unroll
    for (int c = 0; c < columns / kColumns; ++c) {
      const long long wanted = share.row + c * kColumns + group;
      const long long row = wanted < m.p.rows ? wanted : m.p.rows - 1;  // of which no sum is stored
      wide[c] = m.wide + row * m.p.wide_row + k * m.p.wide_k;
    }
  }

  __device__ void load(Chunk<columns>& to) {
    load_narrow(to.narrow);
    load_wide(to.wide);
  }
  template <int words>
  __device__ void load_narrow(std::uint32_t (&to)[words]) {
    if constexpr (is_across) {
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) {
        const auto x = __ldg(reinterpret_cast<const uint2*>(narrow + i * narrow_pitch));
        to[2 * i] = x.x, to[2 * i + 1] = x.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kPieces * 2; ++i) {
        const auto x = __ldg(reinterpret_cast<const uint4*>(narrow + i * narrow_pitch));
        to[4 * i] = x.x, to[4 * i + 1] = x.y;
        to[4 * i + 2] = x.z, to[4 * i + 3] = x.w;
      }
    }
    narrow += narrow_step;
  }
  __device__ void load_wide(float (&to)[columns / kColumns][kOfLane]) {
#pragma unroll
    for (int c = 0; c < columns / kColumns; ++c) {
      if constexpr (wide_is_along_k) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float4 x = __ldg(reinterpret_cast<const float4*>(wide[c]) + half);
          to[c][4 * half] = x.x, to[c][4 * half + 1] = x.y;
          to[c][4 * half + 2] = x.z, to[c][4 * half + 3] = x.w;
        }
      } else {
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) to[c][i] = __ldg(wide[c] + i * wide_k);
      }
      wide[c] += wide_step;
    }
  }
};

// The sums of one warp over whole chunks.
template <auto cfg, bool is_across, bool wide_is_along_k>
__device__ void multiply_whole(float (&sums)[cfg.columns / kColumns][kPieces][4], const Matrices& m,
                               const Share& share, std::uint32_t& lost) {
  const int chunks = static_cast<int>(m.p.gemm.k / kChunk);
  WholeChunks<cfg.columns, is_across, wide_is_along_k> source(m, share);
  Chunk<cfg.columns> ring[cfg.stages];
#pragma unroll
  for (int stage = 0; stage < cfg.stages; ++stage) {
    if (share.first + stage * share.step < chunks) source.load(ring[stage]);
  }
  for (int chunk = share.first; chunk < chunks; chunk += cfg.stages * share.step) {
#pragma unroll
    for (int stage = 0; stage < cfg.stages; ++stage) {
      const int here = chunk + stage * share.step;
      if (here >= chunks) break;
      multiply<cfg.columns>(sums, ring[stage], is_across, lost);
      if (here + cfg.stages * share.step < chunks) source.load(ring[stage]);
    }
  }
}

// The terms of FP32 rows for all warps of a CTA, in the order in which lanes take them, of as many
// chunks as give each thread eight numbers to split; one stage is filled while one is read.
template <int columns>
struct SharedTerms {
  static constexpr int kAll = columns / kColumns, kChunks = kWarps / kAll;
  uint4 terms[2][kChunks][kAll][3][32];
};

// The sums of a warp where all warps of the CTA have lines of their own, all of which are there.
// WHY the FP32 rows through shared memory: their loads kept the L1 busy for longer than memory was.
// TRIED (H100): each warp for itself, 32 rows of 131072 x 4096 lines in 711 us.
template <auto cfg, bool is_across>
__device__ void multiply_together(float (&sums)[cfg.columns / kColumns][kPieces][4],
                                  SharedTerms<cfg.columns>& shared, const Matrices& m,
                                  const Share& share, std::uint32_t& lost) {
  using Stage = SharedTerms<cfg.columns>;
  constexpr int kChunks = Stage::kChunks;
  const int all = static_cast<int>(m.p.gemm.k / kChunk);
  const int chunks = all > share.first ? (all - share.first + share.step - 1) / share.step : 0;
  const int lane = threadIdx.x % 32, column = threadIdx.x / 32 % Stage::kAll,
            of_stage = threadIdx.x / 32 / Stage::kAll;
  // This thread's own part of a stage.
  const long long wanted = share.row + column * kColumns + lane / 4;
  const float* const row = m.wide + (wanted < m.p.rows ? wanted : m.p.rows - 1) * m.p.wide_row;
  float own[kOfLane];
  const auto load = [&](int stage) {
    const int chunk = stage * kChunks + of_stage;
    if (chunk >= chunks) return;
    const long long k =
        (share.first + static_cast<long long>(chunk) * share.step) * kChunk + lane % 4 * kOfLane;
    if (m.p.fp32_is_along_k) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float4 x = __ldg(reinterpret_cast<const float4*>(row + k) + half);
        own[4 * half] = x.x, own[4 * half + 1] = x.y;
        own[4 * half + 2] = x.z, own[4 * half + 3] = x.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) own[i] = __ldg(row + (k + i) * m.p.wide_k);
    }
  };
  const auto store = [&](int stage) {
    if (stage * kChunks + of_stage >= chunks) return;
    const Terms terms = terms_of(own, lost);
#pragma unroll
    for (int term = 0; term < 3; ++term) {
      shared.terms[stage % 2][of_stage][column][term][lane] = {
          terms.of_pair[0][term], terms.of_pair[1][term], terms.of_pair[2][term],
          terms.of_pair[3][term]};
    }
  };
  WholeChunks<cfg.columns, is_across, true> source(m, share);
  constexpr int kAhead = cfg.stages;  // chunks of lines on their way
  std::uint32_t narrow[kAhead][kPieces * 2 * kOfLane / 2];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (i < chunks) source.load_narrow(narrow[i]);
  }
  load(0);
  store(0);
  __syncthreads();
  for (int stage = 0; stage * kChunks < chunks; ++stage) {
    load(stage + 1);
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int chunk = stage * kChunks + i;
      if (chunk >= chunks) continue;
      if constexpr (is_across) pair_along_k(narrow[i % kAhead]);
      multiply<cfg.columns>(sums, narrow[i % kAhead], [&](int c) {
        Terms terms;
#pragma unroll
        for (int term = 0; term < 3; ++term) {
          const uint4 x = shared.terms[stage % 2][i][c][term][lane];
          terms.of_pair[0][term] = x.x, terms.of_pair[1][term] = x.y;
          terms.of_pair[2][term] = x.z, terms.of_pair[3][term] = x.w;
        }
        return terms;
      });
      if (chunk + kAhead < chunks) source.load_narrow(narrow[i % kAhead]);
    }
    store(stage + 1);
    __syncthreads();
  }
}

// The same over chunks from `first` on, with loads that check what is there.
template <auto cfg>
__device__ void multiply_checked(float (&sums)[cfg.columns / kColumns][kPieces][4],
                                 const Matrices& m, const Share& share, int loads,
                                 std::uint32_t& lost) {
  const int group = threadIdx.x % 32 / 4;
  const int chunks = static_cast<int>((m.p.gemm.k + kChunk - 1) / kChunk);
#pragma unroll 1
  for (int chunk = share.first; chunk < chunks; chunk += share.step) {
    const long long k = static_cast<long long>(chunk) * kChunk + threadIdx.x % 4 * kOfLane;
    Chunk<cfg.columns> here;
    load_narrow(here.narrow, m, share.line, k, group, loads);
    load_wide(here.wide, m, share.row, k, group);
    multiply<cfg.columns>(sums, here, loads == kAlongLines, lost);
  }
}

// Returns how the lines were read: which line a sum is of depends on it.
template <auto cfg>
__device__ int multiply_share(float (&sums)[cfg.columns / kColumns][kPieces][4],
                              SharedTerms<cfg.columns>& shared, const Matrices& m, Share share,
                              long long end_of_cta, std::uint32_t& lost) {
  const Params& p = m.p;
  bool is_whole = p.loads != kElements;
  if constexpr (cfg.shares_rows) {
    is_whole = is_whole && p.warps_of_lines == kWarps && end_of_cta <= p.lines;
    if (is_whole && p.loads == kAlongK) multiply_together<cfg, false>(sums, shared, m, share, lost);
    if (is_whole && p.loads != kAlongK) multiply_together<cfg, true>(sums, shared, m, share, lost);
  } else {
    is_whole = is_whole && share.line + kLines <= p.lines;
    if (is_whole && p.loads == kAlongK && p.fp32_is_along_k) {
      multiply_whole<cfg, false, true>(sums, m, share, lost);
    } else if (is_whole && p.loads == kAlongK) {
      multiply_whole<cfg, false, false>(sums, m, share, lost);
    } else if (is_whole && p.fp32_is_along_k) {
      multiply_whole<cfg, true, true>(sums, m, share, lost);
    } else if (is_whole) {
      multiply_whole<cfg, true, false>(sums, m, share, lost);
    }
  }
  if (is_whole) {
    // What is left is part of a chunk, and the next one of some warp.
    const int chunks = static_cast<int>(p.gemm.k / kChunk);
    if (p.gemm.k % kChunk == 0 || chunks % share.step != share.first) return p.loads;
    share.first = chunks;
  }
  const int loads = is_whole ? p.loads : kElements;
  multiply_checked<cfg>(sums, m, share, loads, lost);
  return loads;
}

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

// What the warps of a CTA leave for those of its cluster; before that, the terms that they share.
template <int columns>
struct Shared {
  union {
    float sums[kWarps][columns * kPitch];
    SharedTerms<columns> terms;
  };
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
  const int loads = multiply_share<cfg>(sums, shared.terms, m, share,
                                        tile.line + p.warps_of_lines * kLines, lost);
  store_sums<cfg>(shared, sums, loads, lost);
  add_warps<cfg>(shared, p.warps_of_lines);
  sync_cluster();
  finish<cfg>(shared, p);
  sync_cluster();
}

}  // namespace tessera::mixed
