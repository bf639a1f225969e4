// What the frames of register experiments and the code put into them agree on.
#pragma once

namespace tessera::calibration {

inline constexpr int kOffsetWords = 2048;  // of shared memory, filled with numbers in [0.5, 1)
inline constexpr int kSharedWords = kOffsetWords + 32;  // then the lanes' offsets, in bytes
inline constexpr int kResults = 64;                     // the first so many are handed out

}  // namespace tessera::calibration
