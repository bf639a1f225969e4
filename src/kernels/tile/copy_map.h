// Maps from threads to the elements of an (outer, k) tile that they copy into shared memory, where
// the tile is (k, outer). Pure constexpr: the host tests that each element is copied once, that
// neighbouring threads read neighbours, and that a warp's writes are in 32 banks.
#pragma once

namespace tessera::tile {

// One element at a time: thread t copies the elements (outer(t) + i * kOuterStep, k(t) + j *
// kKStep) for all i and j. `along_k`: the operand is contiguous along k.
template <int extent, int depth, bool along_k, int threads>
struct ElementMap {
  static constexpr int kAcross = along_k ? 8 : (extent < 128 ? extent : 128);
  static constexpr int kDown = threads / kAcross;
  static constexpr int kOuterStep = along_k ? kDown : kAcross;
  static constexpr int kKStep = along_k ? kAcross : kDown;
  static constexpr int kOuterCount = extent / kOuterStep, kKCount = depth / kKStep;
  static_assert(kOuterCount * kOuterStep == extent && kKCount * kKStep == depth);

  static constexpr int outer(int thread) { return along_k ? thread / kAcross : thread % kAcross; }
  static constexpr int k(int thread) { return along_k ? thread % kAcross : thread / kAcross; }
};

// Four neighbours along outer at a time: thread t copies the vectors that begin at `outer(t)` of
// the rows `k(t) + i * kKStep`.
template <int extent, int depth, int threads>
struct VectorMap {
  static constexpr int kWidth = 4;                  // elements per vector
  static constexpr int kAcross = extent / kWidth;   // vectors per row
  static constexpr int kKStep = threads / kAcross;  // rows at a time
  static constexpr int kKCount = depth / kKStep;
  static_assert(kKCount >= 1 && kKCount * kKStep == depth && threads % kAcross == 0);

  static constexpr int outer(int thread) { return thread % kAcross * kWidth; }
  static constexpr int k(int thread) { return thread / kAcross; }
};

// Chunks of `width` elements of an extent x depth tile: consecutive threads copy consecutive chunks
// of a line along the contiguous index, then the next lines.
template <int extent, int depth, bool along_k, int threads, int width>
struct ChunkMap {
  static constexpr int kWidth = width;
  static constexpr int kAcross = (along_k ? depth : extent) / width;  // chunks per line
  static constexpr int kLines = threads / kAcross;                    // lines at a time
  static constexpr int kCount = extent * depth / width / threads;
  static_assert(kAcross * kLines == threads);
  static_assert(kCount * threads * width == extent * depth);

  // A thread's first chunk; the next ones are kLines lines apart.
  static constexpr int across(int thread) { return thread % kAcross * width; }
  static constexpr int line(int thread) { return thread / kAcross; }
};

}  // namespace tessera::tile
