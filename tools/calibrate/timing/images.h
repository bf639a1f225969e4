// The calibration kernels that this program carries (tools/calibrate/kernels/), as images for a
// device.
#pragma once

#include "launch/image.h"

namespace tessera::calibration {

const CodeImage& shared_memory_image();
const CodeImage& global_memory_image();
const CodeImage& matrix_image();
const CodeImage& pipes_image();
const CodeImage& control_image();
const CodeImage& collisions_image();
const CodeImage& atomics_image();

}  // namespace tessera::calibration
