// Runs a plan of the catalog on a device: loads the image, owns the workspace, launches in order.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "catalog/catalog.h"
#include "device/device.h"

namespace tessera::lab {

// Device memory with an owner. Movable only.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Device& device, std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();
  DeviceAddress address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Device* device_ = nullptr;
  DeviceAddress address_ = 0;
  std::size_t bytes_ = 0;
};

// Asked between launches; true ends the work with Stopped.
using Stop = std::function<bool()>;
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped between two launches"; }
};

// One kernel bound to one problem on one device. Throws kUnsupported (before any launch) when the
// kernel does not take the problem, kUnavailable when the device cannot load its image.
class Runner {
 public:
  Runner(Device& device, const KernelChoice& choice, const Problem& problem,
         const PlanOptions& options = {});

  // The launches for these operands; made once where calls are timed.
  Plan plan(const Operands& operands) const;
  std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(workspace_.bytes()); }
  // Enqueues a plan. Asynchronous where the device is.
  void run(const Plan& plan, const Stop& stop = {});

  const KernelRow& row() const { return *row_; }
  const std::string& image() const { return image_.description; }

 private:
  Device& device_;
  const Kernel& kernel_;
  std::string variant_;
  const KernelRow* row_;
  Problem problem_;
  PlanOptions options_;
  LoadedImage image_;
  DeviceBuffer workspace_;
};

}  // namespace tessera::lab
