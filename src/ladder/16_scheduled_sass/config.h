// Rung 16 has no source of its own: it is another rung's machine code with FFMAs that the build has
// reordered (tools/build/patch_cubin.cpp). It has the same config rows as that rung.
#pragma once

namespace tessera::scheduled_sass {

inline constexpr char kPatchedFrom[] = "15_producer_warp";  // read by cmake/images.cmake, too

}  // namespace tessera::scheduled_sass
