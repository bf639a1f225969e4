// The class behind make_cuda_device(). Its members are in cuda_device.cpp, except for members for
// transfers (transfers.cpp) and for captures (captures.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/context.h"
#include "device/cuda/module_cache.h"
#include "device/device.h"

namespace tessera::cuda {

// The number of marks (timing events) that are kept. Older marks are forgotten, so that a long run
// does not accumulate events.
inline constexpr std::size_t kLiveMarks = 4096;

enum class ContextIs { kPrimary, kTheCallers };

class CudaDevice final : public Device {
 public:
  // WHY this constructor delegates: the destructor then releases what exists when a later step
  // throws.
  CudaDevice(const char* library, ContextIs which, int index) : CudaDevice(load_driver(library)) {
    const bool is_primary = which == ContextIs::kPrimary;
    context_ = is_primary ? OwnedContext::primary(driver_, index) : OwnedContext::current(driver_);
    read_info();
    if (is_primary) call("cuStreamCreate", driver_.stream_create(&own_stream_, 0));
  }
  ~CudaDevice() override { close(); }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInfo& info() const override { return info_; }
  void* native_stream() const override { return own_stream_; }

  DeviceAddress allocate(std::size_t bytes) override;
  void free(DeviceAddress address) override;
  void copy_in(DeviceAddress to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, DeviceAddress from, std::size_t bytes) override;
  LoadedImage load(const CodeImage& image) override;
  TensorMapBytes encode_tensor_map(const TensorMapDesc& desc) const override;
  void replace_address(std::span<std::byte, 128> map, DeviceAddress address) const override;
  LoadedEntry entry(const LoadedImage& image, const std::string& name,
                    const LaunchShape& shape) override;
  void launch(const LoadedEntry& entry, const LaunchShape& shape, std::span<const std::byte> params,
              std::span<const std::size_t> offsets, void* stream) const override;
  void synchronize(void* stream) override;
  std::optional<std::uint64_t> capture_of(void* stream) const override;
  void when_graph_is_gone(void* stream, std::function<void()> gone) override;
  AddressKind kind_of(std::uint64_t address) const override;
  void* allocate_pinned(std::size_t bytes) override;
  void free_pinned(void* memory) override;
  void copy_in(DeviceAddress to, const void* from, const CopyShape& shape, void* stream) override;
  void copy_out(void* to, DeviceAddress from, const CopyShape& shape, void* stream) override;
  void* make_stream() override;
  void destroy_stream(void* stream) override;
  void* make_event() override;
  void destroy_event(void* event) override;
  void record(void* event, void* stream) override;
  void wait(void* stream, void* event) override;
  void wait_for(void* event) override;
  std::uint64_t record_mark() override;
  std::optional<double> milliseconds_between(std::uint64_t begin, std::uint64_t end) override;

 private:
  explicit CudaDevice(const Driver& driver) : driver_(driver) {}

  void call(std::string_view name, Result result) const { check(driver_, name, result); }
  StreamHandle stream_of(void* given) const {
    return given ? static_cast<StreamHandle>(given) : own_stream_;
  }
  template <class CopyOf>
  void copy_lines(const CopyShape& shape, void* stream, CopyOf copy_of);
  void read_info();
  void close() noexcept;
  void launch_with(const Entry& entry, const LaunchShape& shape, StreamHandle stream, void** list,
                   void** extra) const;
  void launch_extended(const Entry& entry, const LaunchShape& shape, StreamHandle stream,
                       void** list, void** extra) const;
  void check_launch(const char* name, const Entry& entry, Result result) const;
  Event mark(std::uint64_t id) const;

  Driver driver_;
  OwnedContext context_;
  ModuleCache modules_{driver_};
  StreamHandle own_stream_ = nullptr;  // null in a caller's context: CUDA's null stream
  DeviceInfo info_{};
  std::vector<Event> marks_;  // a ring of kLiveMarks
  std::uint64_t next_mark_ = 0;
};

}  // namespace tessera::cuda
