// Finds paths between instructions without a barrier, so that a hint can say where a barrier is
// missing.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "vgpu/program/program.h"

namespace tessera::vgpu::check {

class Paths {
 public:
  explicit Paths(const Kernel& kernel) : kernel_(kernel) {}

  // Whether a thread can get from one instruction to the other without a barrier of the CTA. True
  // if both are one instruction that can run again. False across functions.
  bool is_free(std::uint32_t from, std::uint32_t to);
  // Whether this is an aligned barrier without a number of threads,
  // such as __syncthreads().
  bool asks_all_threads(std::uint32_t barrier) const;

 private:
  bool find(std::uint32_t from, std::uint32_t to) const;

  const Kernel& kernel_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known_;
};

}  // namespace tessera::vgpu::check
