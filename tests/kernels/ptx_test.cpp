// The wrappers of src/kernels/ptx/ are understood by whoever runs them.
#include <gtest/gtest.h>

#include "tests/kernels/run_kernel.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

// A launch decodes the whole kernel; it returns at once.
TEST(PtxWrappers, AreAllUnderstood) {
  if (!can_run_kernels(test_device())) GTEST_SKIP() << "kernels for sm_90a";
  Device& device = test_device();
  const LoadedImage image = device.load(kernel_image("every_instruction"));
  const DeviceAddress nowhere = 0;
  Launch launch;
  launch.entry = "every_instruction";
  launch.shape.block = 128;
  Params()
      .add(TensorMapBytes{})
      .add(nowhere)
      .add(nowhere)
      .add(nowhere)
      .add(std::int32_t{0})
      .pass_to(launch);
  device.launch(image, launch);
  device.synchronize();
}

}  // namespace
}  // namespace tessera
