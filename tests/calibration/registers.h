// What the frames of register experiments and the code put into them agree on.
#pragma once

namespace tessera::calibration {

inline constexpr int kSharedWords = 2048;  // of shared memory, filled with numbers in [0.5, 1)
inline constexpr int kResults = 64;        // the first so many are handed out

}  // namespace tessera::calibration
