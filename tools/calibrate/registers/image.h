// Patched frames as images for a device.
#pragma once

#include <string>

#include "launch/image.h"
#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {

// One image under a name of its own. The device keeps loaded code by name, so no two may share it.
class PatchedImage {
 public:
  PatchedImage(const Frame& frame, const Code& code);
  PatchedImage(const PatchedImage&) = delete;
  PatchedImage& operator=(const PatchedImage&) = delete;
  const CodeImage& image() const { return image_; }

 private:
  std::string name_;
  std::vector<std::byte> cubin_;
  CodeImage image_;
};

}  // namespace tessera::calibration
