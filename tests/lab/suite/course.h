// A device that poses as a real GPU and whose kernel takes 1 ms, and a library whose third call is
// the fastest.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "lab/suite/cell_bench.h"
#include "tests/lab/timing/fake_device.h"
#include "tests/lab/timing/fake_vendor.h"

namespace tessera::lab {

inline DrawnCell cell_of(const Problem& problem, bool in_place = false) {
  DrawnCell cell;
  cell.problem = with_default_ld(problem);
  cell.in_place = in_place;
  return cell;
}

struct Course {
  explicit Course(Bug bug = Bug::kNone, std::vector<double> vendor_ms = {5, 4, 0.5, 2, -1})
      : device(DeviceKind::kCuda, bug),
        kernel(fake_kernel(kF32Types)),
        vendor(device, std::move(vendor_ms)),
        timer(device) {}
  CellBench bench(std::function<bool()> stop = {}) {
    return {device,
            timer,
            &vendor,
            {.stop = std::move(stop), .plan = {.kernel = KernelChoice{&kernel, "only"}}}};
  }

  FakeDevice device;
  Kernel kernel;
  FakeVendor vendor;
  // Idling takes no time of the device's clock.
  struct NoIdling : DeviceTimer {
    using DeviceTimer::DeviceTimer;
    void idle(double milliseconds) override { idled += milliseconds; }
    double idled = 0;
  } timer;
};

}  // namespace tessera::lab
