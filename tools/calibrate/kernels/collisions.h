// What the warps of tools/calibrate/kernels/collisions.cu can be told to do.
#pragma once

namespace tessera::calibration {

enum Role : int {
  kNothing,
  kStoreShared32,
  kStoreShared128,
  kLoadShared32,
  kLoadShared64Pairs,  // lanes agree in pairs: half the passes
  kLoadShared128,
  kLoadL1By32,
  kLoadL1By128,
  kLoadL2By32,  // past L1
  kLoadL2By128,
  kStoreGlobal32,  // to the pattern's places
  kStoreGlobal128,
  kStoreGlobal32Slowly,  // a pause of a microsecond after each
  kCopyIn32,             // loads past L1, stores to shared memory
  kCopyIn128,
};

}  // namespace tessera::calibration
