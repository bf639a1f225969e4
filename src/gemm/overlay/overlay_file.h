// The files of overlays: one per GPU in the user's cache folder ($XDG_CACHE_HOME/tessera, else
// ~/.cache/tessera), or the one file that TESSERA_TUNING names; if it is "off" or empty, there is
// none.
#pragma once

#include <string>
#include <vector>

#include "gemm/options.h"
#include "gemm/overlay/overlay.h"

namespace tessera::gemm {

// The file of this GPU, whether or not it exists. Empty: no overlay is used.
std::string overlay_path(const std::string& gpu);
// The files of all GPUs that have one.
std::vector<std::string> overlay_paths();

// The commit of the images that this process runs. Throws kUnavailable if there are none.
std::string library_version();

// The overlay in a file, whoever measured it. A file that cannot be read is ignored, with the
// reason. Without a file the overlay has no entries.
Overlay read_overlay(const std::string& path);
// Replaces the file in one step: a reader finds the old one or the new one. Makes its folder.
// Throws kUnavailable.
void write_overlay(const Overlay& overlay);

// Does nothing if there is no file.
void remove_overlay(const std::string& path);

// The limits of a GPU with the user's overlay. Reads its file once per process, at the first call
// for a GPU of that name.
DeviceLimits tuned_limits_of(const DeviceInfo& info);

}  // namespace tessera::gemm
