// Launches a kernel of these tests on a device and brings back its result and what was found.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/virtual/observer.h"

namespace tessera {

using Bytes = std::vector<std::byte>;

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

// The parameter space of a kernel, in the order of its declaration.
class Params {
 public:
  template <typename T>
  Params& add(const T& value) {
    bytes_.resize((bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    offsets_.push_back(bytes_.size());
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof(T));
    return *this;
  }
  void pass_to(Launch& launch) const {
    launch.params = bytes_;
    launch.param_offsets = offsets_;
  }

 private:
  Bytes bytes_;
  std::vector<std::size_t> offsets_;
};

// Memory of a device, exactly as large as what it holds, so that the next byte is out of bounds.
class DeviceBytes {
 public:
  DeviceBytes(Device& device, const Bytes& bytes);
  ~DeviceBytes();
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  DeviceAddress address() const { return address_; }
  Bytes read() const;

 private:
  Device& device_;
  std::size_t size_;
  DeviceAddress address_;
};

// Their PTX is for sm_90a, which no other GPU takes; the virtual one does.
bool can_run_kernels(const Device& device);

// tests/kernels/<folder>/<name>.cu, compiled.
CodeImage kernel_image(const std::string& name);

// What the launch was found guilty of; a fault is the last finding.
std::vector<vgpu::Finding> launch_and_check(Device& device, const LoadedImage& image,
                                            const Launch& launch);

// "race at no_barrier_before_use.cu:10, no_barrier_before_use.cu:12: <message>", a line each.
std::string described(const std::vector<vgpu::Finding>& findings);

// The orders in which every kernel must give the same result and the same verdict.
std::vector<vgpu::Observation> checked_schedules();
std::string name_of(const vgpu::Observation& observation);  // "lazy, seed 2"

}  // namespace tessera
