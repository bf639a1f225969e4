// Rung 16 has no source of its own: it is the machine code of another rung, its FFMAs put into a
// better order by the build (tools/build/patch_cubin.cpp). Its rows are those of that rung.
#pragma once

namespace tessera::scheduled_sass {

inline constexpr char kPatchedFrom[] = "15_producer_warp";  // read by cmake/images.cmake, too

}  // namespace tessera::scheduled_sass
