// Which images the catalog's code is compiled into: one for each kernel and config, so that the
// build compiles them in parallel, a change recompiles little, and a device loads no more than a
// plan launches. catalog/manifest.txt lists them for the build, which reads nothing else.
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
