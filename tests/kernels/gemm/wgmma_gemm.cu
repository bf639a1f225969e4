// Entries of the wgmma family that the tests run: few, and between them each tile's side, cluster,
// mode, way out, and which side of the operands is contiguous.
#include "kernels/families/wgmma/kernel.cu"
#include "kernels/ptx/wgmma_n128.h"
#include "kernels/ptx/wgmma_n160.h"
#include "kernels/ptx/wgmma_n192.h"
#include "kernels/ptx/wgmma_n256.h"
#include "kernels/ptx/wgmma_n64.h"
#include "kernels/ptx/wgmma_n80.h"
#include "kernels/ptx/wgmma_n96.h"
#include "tests/kernels/gemm/wgmma_configs.h"

#define ENTRY(name, row)                                                                    \
  extern "C" __global__ void __cluster_dims__(tessera::kWgmmaRows[row].config.ctas(), 1, 1) \
      __launch_bounds__(tessera::kWgmmaRows[row].config.threads(), 1)                       \
          name(const __grid_constant__ tessera::wgmma::WgmmaParams p) {                     \
    tessera::wgmma::run<tessera::kWgmmaRows[row].config>(p);                                \
  }

ENTRY(wgmma_0, 0)
ENTRY(wgmma_1, 1)
ENTRY(wgmma_2, 2)
ENTRY(wgmma_3, 3)
ENTRY(wgmma_4, 4)
ENTRY(wgmma_5, 5)
ENTRY(wgmma_6, 6)
ENTRY(wgmma_7, 7)
ENTRY(wgmma_8, 8)
ENTRY(wgmma_9, 9)
ENTRY(wgmma_10, 10)
ENTRY(wgmma_11, 11)
