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

// Which code of an image a device loaded: "cubin sm_90a", "patched cubin sm_90a", "ptx compute_75
// (compiled by driver)".
struct LoadedImage {
  std::uint64_t handle = 0;
  std::string description;
  std::string hash = {};    // hash_of() the code that was loaded: a cubin, or the PTX
  bool is_patched = false;  // it is the image's patched cubin
};

// An entry of a loaded image, found once: what repeated launches of it need.
struct LoadedEntry {
  std::uint64_t handle = 0;
};

class Modules {
 public:
  virtual ~Modules() = default;
  // Loads once a device and image name; later calls return the same handle. Legal while a stream is
  // captured. Throws kUnavailable when this GPU or driver can load none of the image's codes.
  virtual LoadedImage load(const CodeImage& image) = 0;
  // Finds an entry and lets it run with such shapes. Throws kBadArgument where the image has none
  // of this name.
  virtual LoadedEntry entry(const LoadedImage& image, const std::string& name,
                            const LaunchShape& shape) = 0;
  // The bytes that stand for this map in a kernel's parameters or memory. Throws kBadArgument where
  // it breaks a rule, kUnsupported where this device cannot run it.
  virtual TensorMapBytes encode_tensor_map(const TensorMapDesc&) const {
    throw StatusError(Status::unsupported("this device has no tensor maps"));
  }
  // Moves the tensor of an encoded map to another address, of the alignment that it was encoded
  // for.
  virtual void replace_address(std::span<std::byte, 128>, DeviceAddress) const {
    throw StatusError(Status::unsupported("this device has no tensor maps"));
  }
};

}  // namespace tessera
