// The device that tests run on: the virtual GPU, or with TESSERA_TEST_DEVICE=cuda the real one.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>

#include "device/cuda/cuda_device.h"
#include "device/device.h"
#include "device/virtual/virtual_device.h"

namespace tessera {

inline bool test_on_cuda() {
  const char* name = std::getenv("TESSERA_TEST_DEVICE");
  return name != nullptr && std::string_view(name) == "cuda";
}

inline Device& test_device() {
  static const std::unique_ptr<Device> device =
      test_on_cuda() ? make_cuda_device() : make_virtual_device();
  return *device;
}

// The same with few SMs, where it is virtual: small products fill it, and grids take several waves.
inline Device& small_test_device() {
  if (test_on_cuda()) return test_device();
  static const std::unique_ptr<Device> device = make_virtual_device({.sms = 3});
  return *device;
}

}  // namespace tessera
