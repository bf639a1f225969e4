// Where kernels run. Two implementations behind one small interface: cuda (the driver API, loaded
// at run time) and virtual (our PTX executor on the CPU). The interface has five parts, and users
// take only those that they need: memory, modules, stream, transfers, and the observer, which the
// virtual GPU alone has (device/virtual/observer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/memory.h"
#include "device/modules.h"
#include "device/stream.h"
#include "device/transfers.h"
#include "launch/image.h"
#include "launch/launch.h"

namespace tessera {

enum class DeviceKind { kCuda, kVirtual };

struct DeviceInfo {
  DeviceKind kind;
  std::string name;  // "NVIDIA H200", "virtual"
  int sm = 0;        // compute capability, 90
  int sms = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  int clock_khz = 0;            // SM clock ceiling; 0 if unknown
  std::string driver;           // "580.159.04", empty if unknown
  int index = 0;                // among the GPUs that the driver shows, from 0
  std::string pci_bus_id = {};  // "0000:1b:00.0", empty if unknown
};

class Device : public Memory, public Modules, public Stream, public Transfers {
 public:
  virtual const DeviceInfo& info() const = 0;

  using Memory::copy_in;
  using Memory::copy_out;
  // Defaults for a device that has one stream and waits for each call, such as the virtual GPU.
  AddressKind kind_of(std::uint64_t address) const override;
  void* allocate_pinned(std::size_t bytes) override;
  void free_pinned(void* memory) override;
  void copy_in(DeviceAddress to, const void* from, const CopyShape& shape, void* stream) override;
  void copy_out(void* to, DeviceAddress from, const CopyShape& shape, void* stream) override;
  void* make_stream() override { return nullptr; }
  void destroy_stream(void*) override {}
  void* make_event() override { return nullptr; }
  void destroy_event(void*) override {}
  void record(void*, void*) override {}
  void wait(void*, void*) override {}
  void wait_for(void*) override {}

  using Stream::launch;
  using Stream::synchronize;
  // Launches a kernel that is launched only once: first finds the entry and encodes tensor maps.
  void launch(const LoadedImage& image, const Launch& launch);
};

// Returns the launch's parameters, with each tensor map in the device's encoding.
std::vector<std::byte> params_of(const Modules& modules, const Launch& launch);

}  // namespace tessera
