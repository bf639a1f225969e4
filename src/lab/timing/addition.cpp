#include "lab/timing/addition.h"

#include <algorithm>
#include <span>

#include "catalog/catalog.h"
#include "catalog/rung.h"
#include "lab/data/parallel.h"
#include "launch/add_params.h"

namespace tessera::lab {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 65536;

const Kernel& kernel_that_adds() { return *choose_kernels("20_unpacked").front().kernel; }

}  // namespace

Addition::Addition(Device& device)
    : device_(device),
      entry_(device.entry(device.load(image_of(kernel_that_adds(), catalog::kAddEntry)),
                          catalog::kAddEntry, shape(1))) {}

LaunchShape Addition::shape(std::int64_t count) const {
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  return {.grid = std::clamp<std::int64_t>(blocks, 1, kMostBlocks), .block = kThreads};
}

void Addition::run(DeviceAddress x, DeviceAddress b, std::int64_t count) const {
  const AddParams params{reinterpret_cast<const void*>(b), reinterpret_cast<void*>(x), count};
  device_.launch(entry_, shape(count), std::as_bytes(std::span(&params, 1)), {}, nullptr);
}

void add_elements(HostMatrix& x, const HostMatrix& b) {
  double* to = x.elements<double>();
  const double* from = b.elements<double>();
  parallel_for(x.view().span(), 65536, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] += from[i];
  });
}

}  // namespace tessera::lab
