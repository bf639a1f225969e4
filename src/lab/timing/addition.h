// Computes X += B on the device, which a chain of products may do before each product. The vendor's
// chain uses this kernel of ours, too.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "lab/data/matrix.h"

namespace tessera::lab {

class Addition {
 public:
  // Loads the kernel. Throws kUnavailable if it is not compiled or cannot be loaded.
  explicit Addition(Device& device);
  // Returns the types of the matrices that the kernel adds.
  static const Types& types();
  // Adds `count` elements of matrices without gaps. Asynchronous if the device is.
  void run(DeviceAddress x, DeviceAddress b, std::int64_t count) const;

 private:
  LaunchShape shape(std::int64_t count) const;

  Device& device_;
  LoadedEntry entry_;
};

// Adds on the host; both matrices hold doubles without gaps.
void add_elements(HostMatrix& x, const HostMatrix& b);

}  // namespace tessera::lab
