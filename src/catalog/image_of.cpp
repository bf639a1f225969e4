// Kernels to compiled code. A file of its own: the build step that generates entries links the table
// before any image exists.
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/images.h"

namespace tessera {

const CodeImage& image_of(const Kernel& kernel) {
  const auto images = embedded_images();
  const auto at = std::find_if(images.begin(), images.end(),
                               [&](const CodeImage& image) { return image.name == kernel.name; });
  if (at == images.end()) {
    throw StatusError(Status::unavailable("kernel " + kernel.name + " has no image in this build"));
  }
  return *at;
}

}  // namespace tessera
