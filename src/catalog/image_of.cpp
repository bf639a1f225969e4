// Kernels to compiled code. A file of its own: the build step that generates entries links the
// table before any image exists.
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/images.h"
#include "launch/code_arch.h"

namespace tessera {

const CodeImage& image_of(const Kernel& kernel) {
  if (kernel.own_image) return *kernel.own_image;
  if (const CodeImage* image = find_image(kernel.name)) return *image;
  throw StatusError(Status::unavailable("kernel " + kernel.name + " has no image in this build"));
}

namespace {

// What a kernel's code is for, read without unpacking it. Beside the first cubin lies PTX for the
// same architecture.
struct Archs {
  std::vector<std::string_view> cubins;
  std::string_view portable;  // "compute_80"; empty: there is none
};

Archs archs_of(const Kernel& kernel) {
  if (kernel.own_image) return {{kernel.own_image->cubin_arch}, kernel.own_image->portable_arch};
  for (const PackedImage& image : embedded_images()) {
    if (image.name == kernel.name) return {image.cubin_archs, image.portable_arch};
  }
  return {};
}

}  // namespace

Status has_code_for(const Kernel& kernel, int sm) {
  const Archs archs = archs_of(kernel);
  const bool fits =
      (!archs.cubins.empty() && ptx_fits(archs.cubins.front(), sm)) ||
      std::ranges::any_of(archs.cubins, [&](auto arch) { return cubin_fits(arch, sm); }) ||
      (!archs.portable.empty() && ptx_fits(archs.portable, sm));
  if (fits || sm == 0) return {};
  const std::string needed = !archs.portable.empty()
                                 ? "sm_" + std::to_string(arch_number(archs.portable)) + " or later"
                             : archs.cubins.empty() ? "an image that this build lacks"
                                                    : std::string(archs.cubins.front());
  return Status::unavailable("--kernel is " + kernel.name + ", whose code needs " + needed +
                             ", but this GPU is sm_" + std::to_string(sm));
}

}  // namespace tessera
