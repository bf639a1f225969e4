// Programs that read a result too early on purpose: the hardware does not wait for instructions of
// fixed latency, so the value that comes out says from which distance on it is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {

struct DistanceProbe {
  std::string first, second;  // "FFMA", "FFMA, as A"
  bool yields = false;        // the first one's yield flag
  std::vector<int> stalls;    // the first one's, one attempt each
  std::uint32_t right = 0;    // what each attempt should leave
  Code code = {};             // attempt i stores its value at word i of the CTA's shared memory
};

std::vector<DistanceProbe> distance_probes();

}  // namespace tessera::calibration
