// The shared tiles of a ring of stages. Tiles of both operands are (k, outer), so that fragments
// are loaded 128 bits at a time for either contiguous index of the operand.
#pragma once

namespace tessera::tile {

// `cfg` has: block, stages, pitch_a() and pitch_b() (floats from one k to the next).
template <auto cfg>
struct Stages {
  alignas(128) float a[cfg.stages][cfg.block.k][cfg.pitch_a()];  // stage x (k, m)
  alignas(128) float b[cfg.stages][cfg.block.k][cfg.pitch_b()];  // stage x (k, n)
};

// The first multiple of 128 bytes in dynamic shared memory, as a T.
template <class T>
__device__ T& aligned_shared(unsigned char* memory) {
  const auto address = reinterpret_cast<unsigned long long>(memory);
  return *reinterpret_cast<T*>((address + 127) / 128 * 128);
}

}  // namespace tessera::tile
