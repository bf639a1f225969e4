// From the registers of a warp to D through shared memory of its own, row by row, by bulk copies:
// they go on while the next tile is multiplied. HW: on an H200 all CTAs that store tiles of FP64 at
// the same time wait for 3 to 7 us.
#pragma once

#include "kernels/epilogue/output.h"
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/fence.h"

namespace tessera::epilogue {

// A warp's tile of doubles in shared memory. Lanes write pairs as tile::DmmaAccumulators visits
// them: eight lanes at a time are in rows r and r + 8, or in r, r + 2, r + 4 and r + 6 where
// `transposed`. Those rows begin in different banks.
template <int m, int n, bool transposed>
struct RowPanel {
  static constexpr int kRows = m, kColumns = n, kRowBytes = n * 8;
  static constexpr int kKinds = transposed ? 4 : 2, kRowsOfKind = m / kKinds;
  static constexpr int kShift = 64 / kKinds;  // bytes that rows of a kind begin later than others
  static_assert(m % 16 == 0 && kRowBytes % 128 == 0);

  static constexpr int place(int row) {
    const int kind = transposed ? row / 2 % 4 : row / 8 % 2;
    const int among = transposed ? row / 8 * 2 + row % 2 : row / 16 * 8 + row % 8;
    return (kind * kRowsOfKind + among) * kRowBytes + kind * kShift;
  }

  alignas(16) unsigned char bytes[m * kRowBytes + 64];
};

// The warp's bulk copies have read what they store.
__device__ inline void wait_for_rows() {
  ptx::bulk_wait_group_read<0>();
  __syncwarp();
}

// Two neighbours of D, as Output::store_vector_inside() has them.
template <class Output>
__device__ double2 finished_pair(const Output& output, int row, int col, const double (&sum)[2]) {
  if (output.beta == 0) return {output.alpha * sum[0], output.alpha * sum[1]};
  const double2 old = *reinterpret_cast<const double2*>(output.c + row * output.c_row + col);
  return {output.alpha * sum[0] + output.beta * old.x, output.alpha * sum[1] + output.beta * old.y};
}

// `output` begins at the warp's tile, which is inside of D and takes vectors of 16 bytes.
template <class Panel, class Output, class Accumulators>
__device__ void store_bulk_rows(Panel& panel, const Output& output, int lane,
                                const Accumulators& accumulators) {
  wait_for_rows();
  accumulators.for_each_pair(lane, [&](int row, int col, const auto& pair) {
    *reinterpret_cast<double2*>(panel.bytes + Panel::place(row) + col * 8) =
        finished_pair(output, row, col, pair);
  });
  // WHY all memory where C was read: D, which the copies write, may be C.
  if (output.beta != 0) {
    ptx::fence_proxy_async();
  } else {
    ptx::fence_proxy_async_shared();
  }
  __syncwarp();
  for (int row = lane; row < Panel::kRows; row += 32) {
    ptx::bulk_store(output.d + row * output.d_row, panel.bytes + Panel::place(row),
                    Panel::kRowBytes);
  }
  ptx::bulk_commit_group();
}

}  // namespace tessera::epilogue
