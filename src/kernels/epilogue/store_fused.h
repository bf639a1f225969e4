// Accumulators to D of 16 bits with an epilogue on the way, as store_tma.h stores them without one:
// panel by panel through shared memory and the copy engine.
#pragma once

#include <cuda/std/type_traits>

#include "kernels/epilogue/fused_panel.h"
#include "kernels/epilogue/store_tma.h"

namespace tessera::epilogue {

// What one panel of a tile needs from memory while the one before is at work, or the tensor cores.
template <Out out, int n>
using BiasOfTile = PanelBias<out, store_columns(n, out)>;

template <class Panels, Out out, int columns, class Sums>
__device__ void activate_and_stage(PanelValues<out, columns, Sums>& values, unsigned char* panel,
                                   const FusedInStore<ElementOfD<out>>& op) {
  // ReLU is the conversion's own.
  const bool is_staged =
      with_activation<GpuMath, true>(op.of.activation, [&]<class Activated>(Activated activated) {
        constexpr bool kIsRelu = cuda::std::is_same_v<Activated, Relu>;
        if constexpr (kIsRelu) values.template stage<Panels, true>(panel);
        if constexpr (!kIsRelu && !cuda::std::is_same_v<Activated, NoActivation>) {
          values.apply(activated);
        }
        return kIsRelu;
      });
  if (!is_staged) values.template stage<Panels, false>(panel);
}

// `bias`: of the tile's first panel. Where there is a C, the sums hold it already
// (epilogue/add_c.h). Leaves what it stored in the place of the sums.
template <Out out, int n, int buffers, class Sums>
__device__ void store_fused_by_tma(StorePanels<out, n, buffers>& panels, Sums& sums,
                                   const GemmParams& p, const MatrixD& d, int row, int column,
                                   const FusedInStore<ElementOfD<out>>& op,
                                   BiasOfTile<out, n> bias) {
  using Panels = StorePanels<out, n, buffers>;
  constexpr int kColumns = Panels::kColumns, kPanels = n / kColumns;
  constexpr int kCount = Sums::kTilesM * kPanels;
  using Values = PanelValues<out, kColumns, Sums>;
  const auto values_of = [&](int i) { return Values{sums, i / kPanels, i % kPanels * kColumns}; };
  const auto row_of = [&](int i) { return row + i / kPanels * tile::kWgmmaM; };
  const auto column_of = [&](int i) { return column + i % kPanels * kColumns; };
  const bool elected = ptx::elect_one();  // HW: always the same lane
  const bool by_row = op.of.bias.by_row;
  const auto alpha = static_cast<float>(p.alpha);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    Values values = values_of(i);
    values.scale_and_add(alpha, bias, by_row);
    if (i + 1 < kCount) bias.load(op.of.bias, row_of(i + 1), column_of(i + 1));
    // The panel is free again: at the start of a tile all are waited for, whichever came last.
    if (elected && i == 0) ptx::bulk_wait_group_read<0>();
    if (elected && i > 0) ptx::bulk_wait_group_read<buffers - 1>();
    __syncwarp();
    unsigned char* panel = panels.panel[i % buffers];
    activate_and_stage<Panels>(values, panel, op);
    store_panel<true, Panels>(panel, p, d, row_of(i), column_of(i), elected);
  }
}

}  // namespace tessera::epilogue
