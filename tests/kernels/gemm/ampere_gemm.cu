// C = A * B^T on Ampere: a ring of three stages filled by cp.async, fragments by ldmatrix, products
// by mma. One barrier a tile: behind it everybody has read the stage that is filled next.
//
// A is m x k and B n x k, bf16; C is m x n, f32; all row-major. k is a multiple of 8.
#include <cstdint>

#include "kernels/ptx/cp_async.h"
#include "kernels/ptx/ldmatrix.h"
#include "kernels/ptx/mma.h"

namespace tessera::ampere_gemm {

using Bf16 = std::uint16_t;

constexpr int kBlock = 128, kBlockK = 32;  // a tile is kBlock rows of A or of B
constexpr int kStages = 3, kThreads = 256;
constexpr int kWarpM = 64, kWarpN = 32;  // outputs of a warp: 2 x 4 warps
constexpr int kTilesM = kWarpM / 16, kTilesN = kWarpN / 8;
constexpr int kPieces = kBlockK / 8;  // of 16 bytes in a row of a tile

struct Args {
  const Bf16 *a, *b;
  float* c;
  int m, n, k;
};

struct Shared {
  alignas(128) Bf16 a[kStages][kBlock * kBlockK];  // (m, k) x stage
  alignas(128) Bf16 b[kStages][kBlock * kBlockK];  // (n, k) x stage
};

using Sums = float[kTilesM][kTilesN][4];  // (64, 32) of a warp

// A row is 64 bytes, so pairs of rows share the banks: their pieces are exchanged pair by pair.
__device__ int element(int row, int piece) {
  return row * kBlockK + (piece ^ (row / 2 % kPieces)) * 8;
}

// Rows and pieces outside of the matrix become zeros.
__device__ void load_tile(Bf16* tile, const Bf16* matrix, int rows, int k, int first_row,
                          int first_k) {
#pragma unroll
  for (int i = threadIdx.x; i < kBlock * kPieces; i += kThreads) {
    const int row = i / kPieces, piece = i % kPieces;
    const int from_row = first_row + row, from_k = first_k + piece * 8;
    const bool exists = from_row < rows && from_k < k;
    const Bf16* from = exists ? matrix + static_cast<long long>(from_row) * k + from_k : matrix;
    ptx::cp_async_past_l1(&tile[element(row, piece)], from, exists ? 16 : 0);
  }
}

__device__ void load_stage(Shared& shared, const Args& args, int row, int column, int tile) {
  const int stage = tile % kStages;
  load_tile(shared.a[stage], args.a, args.m, args.k, row, tile * kBlockK);
  load_tile(shared.b[stage], args.b, args.n, args.k, column, tile * kBlockK);
}

__device__ void multiply(const Bf16* a, const Bf16* b, Sums& sums) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / 4 * kWarpM, column = warp % 4 * kWarpN;
#pragma unroll
  for (int piece = 0; piece < kPieces; piece += 2) {  // 16 elements along k
    std::uint32_t fragments_a[kTilesM][4], fragments_b[kTilesN / 2][4];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
      ptx::ldmatrix(fragments_a[i], &a[element(row + i * 16 + lane % 16, piece + lane / 16)]);
    }
#pragma unroll
    for (int j = 0; j < kTilesN / 2; ++j) {  // two tiles of 8 columns at a time
      const int from = column + j * 16 + lane / 16 * 8 + lane % 8;
      ptx::ldmatrix(fragments_b[j], &b[element(from, piece + lane / 8 % 2)]);
    }
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
        const std::uint32_t* both = &fragments_b[j / 2][j % 2 * 2];
        ptx::mma_m16n8k16<ptx::MatrixType::kBF16>(sums[i][j], fragments_a[i], {both[0], both[1]});
      }
    }
  }
}

__device__ void store(const Args& args, int row, int column, const Sums& sums) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  row += warp / 4 * kWarpM + lane / 4;
  column += warp % 4 * kWarpN + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kTilesM * kTilesN * 4; ++i) {
    const int tile_m = i / (kTilesN * 4), tile_n = i / 4 % kTilesN, part = i % 4;
    const int r = row + tile_m * 16 + part / 2 * 8, c = column + tile_n * 8 + part % 2;
    if (r < args.m && c < args.n) {
      args.c[static_cast<long long>(r) * args.n + c] = sums[tile_m][tile_n][part];
    }
  }
}

__device__ void gemm(const Args& args) {
  __shared__ Shared shared;
  const int tiles_m = (args.m + kBlock - 1) / kBlock;
  const int tiles_k = (args.k + kBlockK - 1) / kBlockK;
  const int row = static_cast<int>(blockIdx.x) % tiles_m * kBlock;
  const int column = static_cast<int>(blockIdx.x) / tiles_m * kBlock;
  for (int tile = 0; tile < kStages - 1; ++tile) {
    if (tile < tiles_k) load_stage(shared, args, row, column, tile);
    ptx::cp_async_commit_group();
  }
  Sums sums = {};
  for (int tile = 0; tile < tiles_k; ++tile) {
    ptx::cp_async_wait_group<kStages - 2>();
    __syncthreads();
    const int next = tile + kStages - 1;
    if (next < tiles_k) load_stage(shared, args, row, column, next);
    ptx::cp_async_commit_group();  // WHY: an empty group counts too, so the wait above stays right
    multiply(shared.a[tile % kStages], shared.b[tile % kStages], sums);
  }
  store(args, row, column, sums);
}

}  // namespace tessera::ampere_gemm

extern "C" __global__ void __launch_bounds__(tessera::ampere_gemm::kThreads)
    ampere_gemm(tessera::ampere_gemm::Args args) {
  tessera::ampere_gemm::gemm(args);
}
