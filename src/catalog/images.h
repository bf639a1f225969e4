// The compiled kernels that this build embeds, one image a kernel folder. The build generates the
// definition (cmake/images.cmake); catalog.h's image_of() is what other rooms call.
#pragma once

#include <span>

#include "problem/image.h"

namespace tessera {

// In the order of the kernels' names. PTX texts are followed by a 0 byte, as the driver wants them.
std::span<const CodeImage> embedded_images();

}  // namespace tessera
