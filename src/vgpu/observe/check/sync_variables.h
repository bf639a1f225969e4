// Memory cells through which threads order each other: a thread that reads a cell with acquire
// semantics learns all that the thread knew that wrote it with release semantics.
#pragma once

#include <mutex>
#include <unordered_map>

#include "vgpu/observe/check/clock.h"

namespace tessera::vgpu::check {

// The knowledge that a strong write passes on: to all threads, and to threads of the writer's CTA.
struct Handover {
  SharedHorizon to_all, to_cta;
  std::uint64_t cta = 0;  // linear
  bool empty() const { return !to_all && !to_cta; }
};

// May be used by several threads.
class SyncVariables {
 public:
  // `replaces`: a plain store discards what earlier writers passed on; an atomic adds to it.
  void release(std::uint64_t cell, const Handover& what, bool replaces);
  // Returns the knowledge that a thread of this CTA gains by reading the cell; null: none.
  SharedHorizon acquire(std::uint64_t cell, std::uint64_t cta) const;
  void clear() { cells_.clear(); }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Handover> cells_;
};

}  // namespace tessera::vgpu::check
