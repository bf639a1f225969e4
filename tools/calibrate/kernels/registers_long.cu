// Room for 16640 instructions: longer than what the instruction caches of an SM hold.
#include "tools/calibrate/kernels/register_frame.h"

namespace tessera::calibration {

extern "C" __global__ void __launch_bounds__(1024) registers_long(const Params p) {
  frame<20>(p, [] { FOUR_TIMES(SLOTS_4096) SLOTS_256 });
}

}  // namespace tessera::calibration
