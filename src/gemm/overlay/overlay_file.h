// The files of overlays: one per GPU in the user's cache folder ($XDG_CACHE_HOME/tessera,
// else ~/.cache/tessera), or the one file that TESSERA_TUNING names. If TESSERA_TUNING is
// "off" or empty, there is no file.
#pragma once

#include <string>
#include <vector>

#include "gemm/options.h"
#include "gemm/overlay/overlay.h"

namespace tessera::gemm {

// The path of the file of this GPU, which need not exist. Empty: no overlay is used.
std::string overlay_path(const std::string& gpu);
// The paths of all files of overlays that exist.
std::vector<std::string> overlay_paths();

// The commit of the images that this process runs. Throws kUnavailable if there are none.
std::string library_version();

// The overlay in a file, for any GPU and library. If the file cannot be read, the overlay has no
// entries and states the reason. Without a file the overlay has no entries.
Overlay read_overlay(const std::string& path);
// Replaces the file in one step, so that a reader finds the old or the new one. Creates the folder.
// Throws kUnavailable if that fails.
void write_overlay(const Overlay& overlay);

// Deletes the file; does nothing if there is no file. Throws kUnavailable if that fails.
void remove_overlay(const std::string& path);

// The limits of a GPU with the user's overlay. The overlay's file is read once per process and
// GPU name, at the first call.
DeviceLimits tuned_limits_of(const DeviceInfo& info);

}  // namespace tessera::gemm
