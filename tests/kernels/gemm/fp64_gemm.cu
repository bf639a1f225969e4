// C = A * B^T in FP64 on tensor cores: two stages filled by cp.async, products by mma.m8n8k4. Rows
// of a tile are padded to 160 bytes, so that the 8-byte reads of half a warp, four rows of four
// elements, meet in no bank.
//
// A is m x k, B n x k and C m x n, all row-major. k is even.
#include "kernels/ptx/cp_async.h"
#include "kernels/ptx/mma.h"

namespace tessera::fp64_gemm {

constexpr int kBlock = 64, kBlockK = 16;  // a tile is kBlock rows of A or of B
constexpr int kRow = kBlockK + 4;         // elements from one row of a tile to the next one
constexpr int kStages = 2, kThreads = 128;
constexpr int kWarp = 32, kTiles = kWarp / 8;  // outputs of a warp, both ways: 2 x 2 warps
constexpr int kPieces = kBlockK / 2;           // of 16 bytes in a row of a tile

struct Args {
  const double *a, *b;
  double* c;
  int m, n, k;
};

struct Shared {
  alignas(16) double a[kStages][kBlock * kRow];  // (m, k) x stage
  alignas(16) double b[kStages][kBlock * kRow];  // (n, k) x stage
};

using Sums = double[kTiles][kTiles][2];  // (32, 32) of a warp

// Rows and pieces outside of the matrix become zeros.
__device__ void load_tile(double* tile, const double* matrix, int rows, int k, int first_row,
                          int first_k) {
#pragma unroll
  for (int i = threadIdx.x; i < kBlock * kPieces; i += kThreads) {
    const int row = i / kPieces, column = i % kPieces * 2;
    const int from_row = first_row + row, from_k = first_k + column;
    const bool exists = from_row < rows && from_k < k;
    const double* from = exists ? matrix + static_cast<long long>(from_row) * k + from_k : matrix;
    ptx::cp_async_past_l1(&tile[row * kRow + column], from, exists ? 16 : 0);
  }
}

__device__ void load_stage(Shared& shared, const Args& args, int row, int column, int tile) {
  const int stage = tile % kStages;
  load_tile(shared.a[stage], args.a, args.m, args.k, row, tile * kBlockK);
  load_tile(shared.b[stage], args.b, args.n, args.k, column, tile * kBlockK);
  ptx::cp_async_commit_group();
}

__device__ void multiply(const double* a, const double* b, Sums& sums) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / 2 * kWarp + lane / 4, column = warp % 2 * kWarp + lane / 4;
#pragma unroll
  for (int k = lane % 4; k < kBlockK; k += 4) {
    double fragments_a[kTiles], fragments_b[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      fragments_a[i] = a[(row + i * 8) * kRow + k];
      fragments_b[i] = b[(column + i * 8) * kRow + k];
    }
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int j = 0; j < kTiles; ++j) ptx::mma_m8n8k4(sums[i][j], fragments_a[i], fragments_b[j]);
    }
  }
}

__device__ void store(const Args& args, int row, int column, const Sums& sums) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  row += warp / 2 * kWarp + lane / 4;
  column += warp % 2 * kWarp + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kTiles * kTiles * 2; ++i) {
    const int tile_m = i / (kTiles * 2), tile_n = i / 2 % kTiles, part = i % 2;
    const int r = row + tile_m * 8, c = column + tile_n * 8 + part;
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
  load_stage(shared, args, row, column, 0);
  Sums sums = {};
  for (int tile = 0; tile < tiles_k; ++tile) {
    ptx::cp_async_wait_group<0>();
    __syncthreads();  // the stage has arrived, and everybody is done with the other one
    if (tile + 1 < tiles_k) load_stage(shared, args, row, column, tile + 1);
    multiply(shared.a[tile % kStages], shared.b[tile % kStages], sums);
  }
  store(args, row, column, sums);
}

}  // namespace tessera::fp64_gemm

extern "C" __global__ void __launch_bounds__(tessera::fp64_gemm::kThreads)
    fp64_gemm(tessera::fp64_gemm::Args args) {
  tessera::fp64_gemm::gemm(args);
}
