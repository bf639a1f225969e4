#include "device/cuda/context.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::cuda {
namespace {

int count_of(const Driver& driver) {
  int count = 0;
  check(driver, "cuDeviceGetCount", driver.device_get_count(&count));
  if (count == 0) check(driver, "cuDeviceGetCount", kNoDevice);
  return count;
}

std::string range_of(int count) {
  return count == 1 ? "1 GPU, whose number is 0"
                    : fmt::format("{} GPUs, whose numbers are 0 to {}", count, count - 1);
}

}  // namespace

OwnedContext OwnedContext::primary(const Driver& driver, int index) {
  const int count = count_of(driver);
  if (index < 0 || index >= count) {
    throw StatusError(Status::bad_argument(
        fmt::format("gpu is {}, but this machine has {}", index, range_of(count))));
  }
  OwnedContext owned;
  owned.index_ = index;
  check(driver, "cuDeviceGet", driver.device_get(&owned.gpu_, index));
  check(driver, "cuDevicePrimaryCtxRetain", driver.primary_ctx_retain(&owned.context_, owned.gpu_));
  owned.driver_ = &driver;
  check(driver, "cuCtxSetCurrent", driver.ctx_set_current(owned.context_));
  return owned;
}

OwnedContext OwnedContext::current(const Driver& driver) {
  OwnedContext found;
  check(driver, "cuCtxGetCurrent", driver.ctx_get_current(&found.context_));
  if (!found.context_) {
    throw StatusError(
        Status::bad_argument("context is none, but one must be current in the calling thread"));
  }
  check(driver, "cuCtxGetDevice", driver.ctx_get_device(&found.gpu_));
  for (const int count = count_of(driver); found.index_ < count; ++found.index_) {
    DeviceOrdinal gpu = 0;
    check(driver, "cuDeviceGet", driver.device_get(&gpu, found.index_));
    if (gpu == found.gpu_) break;
  }
  return found;
}

OwnedContext::OwnedContext(OwnedContext&& other) noexcept { *this = std::move(other); }

OwnedContext& OwnedContext::operator=(OwnedContext&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(context_, other.context_);
  std::swap(gpu_, other.gpu_);
  std::swap(index_, other.index_);
  return *this;
}

// WHY the result is ignored: after a fault of a kernel, every call reports the kernel's fault.
OwnedContext::~OwnedContext() {
  if (driver_) driver_->primary_ctx_release(gpu_);
}

}  // namespace tessera::cuda
