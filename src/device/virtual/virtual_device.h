// The virtual GPU as a device, with its observer.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.h"
#include "device/virtual/observer.h"

namespace tessera {

struct VirtualDeviceOptions {
  int host_threads = 0;          // 0: all cores
  std::size_t memory_bytes = 0;  // 0: limited by host memory only
  int sms = 132;                 // for plans of persistent grids; HW: an H200 has 132
  bool allow_avx512 = true;      // false: the AVX2 path even where the host has AVX-512
  vgpu::Observation observation = {};
};

class VirtualDevice : public Device, public Observer {};

std::unique_ptr<VirtualDevice> make_virtual_device(const VirtualDeviceOptions& options = {});

// Makes a virtual GPU of another compute capability (75, 80, ...). It runs the PTX that a real GPU
// of this capability would load from an image: the portable PTX if the GPU is older than sm_90a.
// Loading an image without code for the GPU throws kUnavailable.
std::unique_ptr<VirtualDevice> make_virtual_gpu(int sm, const VirtualDeviceOptions& options = {});

}  // namespace tessera
