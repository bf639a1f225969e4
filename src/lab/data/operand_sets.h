// Operands for timing. There are enough sets to exceed twice the L2 together, so that no call finds
// its operands in the cache because an earlier call left them there.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"
#include "lab/data/fill.h"
#include "problem/operands.h"

namespace tessera::lab {

class OperandSets {
 public:
  // Every set holds the same data, drawn from `spec`. Only if beta is not zero, C is filled and D
  // starts as a copy of C. All base addresses are multiples of 256 bytes. For a batch of pointers,
  // the operands are arrays of addresses.
  OperandSets(Device& device, const Problem& problem, const FillSpec& spec);

  std::int64_t size() const { return static_cast<std::int64_t>(sets_.size()); }
  const Operands& operator[](std::int64_t i) const { return sets_[i % size()]; }

 private:
  void add_vectors(Device& device, const Problem& problem, const FillSpec& spec);

  DeviceBuffer pool_, arrays_, x_;
  DeviceBuffer scale_, bias_;  // vectors of the epilogue
  std::vector<Operands> sets_;
};

}  // namespace tessera::lab
