// The compiled kernels that this build embeds, one image a kernel folder. The build packs them and
// generates their table (cmake/images.cmake); catalog.h's image_of() is what other rooms call.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "launch/image.h"

namespace tessera {

// A row of the generated table. `packed` holds the PTX, the portable PTX, then one cubin an arch;
// `patch` is empty, or holds the first of these patched, the hash of what it was, and a note
// (packed beside that cubin). Several rows may share their bytes.
struct PackedImage {
  std::string_view name;
  std::string_view packed;
  std::string_view portable_arch;
  std::vector<std::string_view> cubin_archs;
  std::string_view patch;
};
std::span<const PackedImage> embedded_images();

// The image of a kernel, unpacked at the first call and kept; nullptr if this build has none. PTX
// texts are followed by a 0 byte, as the driver wants them.
const CodeImage* find_image(std::string_view kernel_name);

}  // namespace tessera
