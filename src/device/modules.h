// Compiled code on a device: images are loaded, entries found, tensor maps encoded, once, before
// anything is launched. Safe to use from several threads. Failures throw StatusError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "launch/image.h"
#include "launch/launch.h"
#include "launch/tensor_map.h"

namespace tessera {

// The code of an image that a device loaded. Descriptions: "cubin sm_90a", "patched cubin sm_90a",
// "ptx compute_75 (compiled by driver)".
struct LoadedImage {
  std::uint64_t handle = 0;
  std::string description;
  std::span<const std::byte> code = {};  // the loaded cubin or PTX, as long as the image lives
  bool is_patched = false;               // whether it is the image's patched cubin
};

// An entry of a loaded image, looked up once for repeated launches.
struct LoadedEntry {
  std::uint64_t handle = 0;
};

class Modules {
 public:
  virtual ~Modules() = default;
  // Loads an image once per device and image name; later calls return the same handle. May be
  // called while a stream is captured. Throws kUnavailable if this GPU or driver can load none of
  // the image's codes.
  virtual LoadedImage load(const CodeImage& image) = 0;
  // Finds an entry and sets the attributes that a launch of this shape needs. Throws kBadArgument
  // if the image has no entry of this name.
  virtual LoadedEntry entry(const LoadedImage& image, const std::string& name,
                            const LaunchShape& shape) = 0;
  // Encodes a tensor map as bytes for a kernel's parameters or memory. Throws kBadArgument if the
  // map breaks a rule, kUnsupported if this device cannot use the map.
  virtual TensorMapBytes encode_tensor_map(const TensorMapDesc&) const {
    throw StatusError(Status::unsupported("this device has no tensor maps"));
  }
  // Gives an encoded tensor map another address, which must have at least the alignment that the
  // map was encoded for.
  virtual void replace_address(std::span<std::byte, 128>, DeviceAddress) const {
    throw StatusError(Status::unsupported("this device has no tensor maps"));
  }
};

}  // namespace tessera
