// Kernels to compiled code. A file of its own: the build step that generates entries links the
// table before any image exists.
#include "catalog/catalog.h"
#include "catalog/images.h"

namespace tessera {

const CodeImage& image_of(const Kernel& kernel) {
  if (kernel.own_image) return *kernel.own_image;
  if (const CodeImage* image = find_image(kernel.name)) return *image;
  throw StatusError(Status::unavailable("kernel " + kernel.name + " has no image in this build"));
}

}  // namespace tessera
