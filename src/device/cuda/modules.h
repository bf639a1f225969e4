// A cubin runs on one architecture, PTX on its own and later ones, and an old driver can load
// neither if a newer compiler made them. This file picks the first code of an image that loads.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "device/cuda/driver.h"
#include "device/modules.h"
#include "launch/code_arch.h"

namespace tessera::cuda {

struct LoadedModule {
  Module module = nullptr;
  // The code that was loaded: "cubin sm_90a", "patched cubin sm_90a", "ptx compute_75 (compiled by
  // driver)", "cubin sm_90a (patched one not used: this GPU is sm_86)".
  std::string description;
  std::span<const std::byte> code = {};  // bytes in the image
  bool is_patched = false;
};

// Loads the patched cubin if the image has one that fits this SM and the image's cubin (by hash);
// else the cubin, else the PTX that the cubin was made from, else a further cubin, else the
// portable PTX. Throws kUnavailable, with one sentence that gives the reason for each code.
LoadedModule load_module(const Driver& driver, const CodeImage& image, int sm);

}  // namespace tessera::cuda
