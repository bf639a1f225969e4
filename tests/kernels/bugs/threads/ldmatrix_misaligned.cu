// Rows of a tile padded by 8 bytes: no bank conflicts, but every second row is not on 16 bytes.
#include "kernels/ptx/ldmatrix.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  constexpr int kRow = intact ? 8 : 6;          // floats: 16 bytes and padding of 16 or of 8
  __shared__ alignas(16) float tile[8 * kRow];  // (row, piece)
  const int lane = threadIdx.x, row = lane / 4;
  tile[row * kRow + lane % 4] = args.in[lane];
  __syncwarp();
  std::uint32_t piece[1];
  ptx::ldmatrix(piece, &tile[lane % 8 * kRow]);  // <- here
  args.out[lane] = __uint_as_float(piece[0]);
}

}  // namespace tessera::bugs

extern "C" __global__ void ldmatrix_misaligned__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void ldmatrix_misaligned__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
