// Provides operands for many cells, one after the other. Filling gigabytes on the host for each
// cell would take longer than timing it. So each type has one pool of random numbers on the device,
// in which a pattern repeats after a prime number of elements, and operands are addresses in the
// pool. The host knows the pattern, so it can recompute any entry of a product.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"
#include "lab/data/matrix.h"
#include "lab/suite/draw.h"

namespace tessera::lab {

// The operands of one cell. There are enough sets to exceed twice the L2 together. A and B hold
// different numbers in each set.
struct CellOperands {
  std::vector<Operands> sets;
  DeviceAddress pool = 0;               // memory of A, B and the bias; element 0 of the pattern
  std::vector<DeviceAddress> a, b, d;   // set 0: one address per checked product
  std::vector<std::int64_t> products;   // their places in the batch
  const HostMatrix* pattern = nullptr;  // one row, in the operands' type
  const HostMatrix* result_pattern = nullptr;  // one row, in D's type

  const Operands& operator[](std::int64_t i) const {
    return sets[static_cast<std::size_t>(i) % sets.size()];
  }
};

class SuiteMemory {
 public:
  SuiteMemory(Device& device, std::uint64_t seed) : device_(device), seed_(seed) {}

  // Returns operands that are valid until the next call. If beta is not zero, C and D are one
  // matrix of random numbers; otherwise D's content is arbitrary. Throws OutOfMemory if the device
  // has too little memory.
  CellOperands operands(const DrawnCell& cell);

 private:
  // Returns a pool with at least this many bytes of the pattern.
  DeviceAddress pool_of(ElementType type, std::int64_t bytes);
  DeviceAddress results_of(std::int64_t bytes);
  const HostMatrix& pattern_of(ElementType type);
  void upload(DeviceAddress to, std::int64_t bytes, const HostMatrix& pattern);
  void make_arrays(const DrawnCell& cell, CellOperands& out);

  Device& device_;
  const std::uint64_t seed_;
  std::map<ElementType, HostMatrix> patterns_;
  std::map<ElementType, DeviceBuffer> pools_;
  DeviceBuffer results_, arrays_;
};

}  // namespace tessera::lab
