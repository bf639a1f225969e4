// Room for 4096 instructions, with as many registers as 256, 512 or 1024 threads of a CTA may have.
#include "tools/calibrate/kernels/register_frame.h"

namespace tessera::calibration {

extern "C" __global__ void __launch_bounds__(256) registers_wide(const Params p) {
  frame<232>(p, [] { SLOTS_4096 });
}

extern "C" __global__ void __launch_bounds__(512) registers_middle(const Params p) {
  frame<112>(p, [] { SLOTS_4096 });
}

extern "C" __global__ void __launch_bounds__(1024) registers_narrow(const Params p) {
  frame<50>(p, [] { SLOTS_4096 });
}

}  // namespace tessera::calibration
