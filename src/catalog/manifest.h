// Divides the catalog's code into images: one image for each kernel and config. So the build
// compiles images in parallel, a change recompiles few images, and a device loads only images that
// a plan launches. catalog/manifest.txt lists the images for the build, which reads nothing else.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace tessera::catalog {

struct ImageContents {
  std::string name;  // "12_warp_tile__staged"
  const Kernel* kernel;
  std::vector<const KernelRow*> rows;
  std::vector<const HelperEntry*> helpers;
  bool is_shown = false;  // by `tessera ladder`: of a rung's default config
};

// All images, in the order of the catalog's kernels and of each kernel's rows.
std::vector<ImageContents> all_images();

// The text that catalog/manifest.txt must hold.
std::string manifest_text();

}  // namespace tessera::catalog
