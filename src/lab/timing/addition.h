// X += B on the device: what a chain of products does ahead of each product, by the catalog's own
// kernel, for the vendor's chain as for ours.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "lab/data/matrix.h"

namespace tessera::lab {

class Addition {
 public:
  // Loads the kernel. Throws kUnavailable where it is not compiled or cannot be loaded.
  explicit Addition(Device& device);
  // The types of the matrices that it adds.
  static const Types& types();
  // Without gaps, `count` elements. Asynchronous where the device is.
  void run(DeviceAddress x, DeviceAddress b, std::int64_t count) const;

 private:
  LaunchShape shape(std::int64_t count) const;

  Device& device_;
  LoadedEntry entry_;
};

// The same on the host; both of doubles without gaps.
void add_elements(HostMatrix& x, const HostMatrix& b);

}  // namespace tessera::lab
