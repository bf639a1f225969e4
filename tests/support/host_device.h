// A device that launches nothing: it hands out host addresses and notes the bytes of each launch.
// For tests of what the path gives to a device.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"

namespace tessera {

class HostDevice final : public Device {
 public:
  struct Note {
    std::string entry;
    std::vector<std::byte> params;
    void* stream;
  };
  // An event that was recorded on a stream, that a stream waits for, or that the host waits for.
  struct Mark {
    enum Kind { kRecorded, kWaited, kHostWaited } kind;
    void* event;
    void* stream;
    bool operator==(const Mark&) const = default;
  };
  bool notes = true;
  mutable std::vector<Note> launches;
  std::vector<std::string> images;                           // that were loaded
  std::vector<std::pair<std::string, std::string>> entries;  // and the image of each
  mutable std::atomic<int> encodings = 0;
  std::optional<std::uint64_t> capture;  // of every stream
  mutable std::vector<std::pair<std::uint64_t, std::function<void()>>> graphs;
  void destroy_graph(std::uint64_t of_capture) {
    for (auto& [capture, gone] : graphs) {
      if (capture == of_capture) std::exchange(gone, [] {})();
    }
  }
  std::vector<void*> waits;  // streams that were waited for
  std::vector<Mark> marks;
  std::size_t allocated = 0;           // blocks that are not freed
  std::size_t most = ~std::size_t{0};  // blocks at a time

  explicit HostDevice(int sms = 132) {
    info_.kind = DeviceKind::kVirtual;
    info_.name = "host";
    info_.sm = 90;
    info_.sms = sms;
  }
  const DeviceInfo& info() const override { return info_; }
  DeviceAddress allocate(std::size_t bytes) override {
    if (allocated >= most) throw OutOfMemory("no block is left");
    next_ += 1 << 20;
    const DeviceAddress address = next_;
    next_ += (bytes + 255) / 256 * 256;
    allocated += bytes > 0;
    return bytes == 0 ? 0 : address;
  }
  void free(DeviceAddress address) override { allocated -= address != 0; }
  void copy_in(DeviceAddress, const void*, std::size_t) override {}
  void copy_out(void*, DeviceAddress, std::size_t) override {}
  std::function<void()> while_loading = {}, before_launch = {};
  LoadedImage load(const CodeImage& image) override {
    if (while_loading) while_loading();
    const std::lock_guard lock(mutex_);
    images.emplace_back(image.name);
    return {images.size(), "x"};
  }
  TensorMapBytes encode_tensor_map(const TensorMapDesc& desc) const override {
    ++encodings;
    TensorMapBytes map;
    std::memcpy(map.bytes.data(), &desc.address, sizeof desc.address);
    return map;
  }
  void replace_address(std::span<std::byte, 128> map, DeviceAddress address) const override {
    std::memcpy(map.data(), &address, sizeof address);
  }
  LoadedEntry entry(const LoadedImage& image, const std::string& name,
                    const LaunchShape&) override {
    const std::lock_guard lock(mutex_);
    names_.push_back(name);
    entries.emplace_back(name, images[image.handle - 1]);
    return {names_.size()};
  }
  void launch(const LoadedEntry& entry, const LaunchShape&, std::span<const std::byte> params,
              std::span<const std::size_t>, void* stream) const override {
    if (!notes) return;
    if (before_launch) before_launch();
    const std::lock_guard lock(mutex_);
    launches.push_back({names_[entry.handle - 1], {params.begin(), params.end()}, stream});
  }
  using Device::synchronize;
  void synchronize(void* stream) override { waits.push_back(stream); }
  std::optional<std::uint64_t> capture_of(void*) const override { return capture; }
  void when_graph_is_gone(void*, std::function<void()> gone) override {
    if (refuses_graphs) throw StatusError(Status::failed("no object for this graph"));
    graphs.emplace_back(*capture, std::move(gone));
  }
  bool refuses_graphs = false;
  void* make_event() override { return new char; }
  void destroy_event(void* event) override { delete static_cast<char*>(event); }
  void record(void* event, void* stream) override { mark({Mark::kRecorded, event, stream}); }
  void wait(void* stream, void* event) override { mark({Mark::kWaited, event, stream}); }
  void wait_for(void* event) override { mark({Mark::kHostWaited, event, nullptr}); }
  std::uint64_t record_mark() override { return 0; }
  std::optional<double> milliseconds_between(std::uint64_t, std::uint64_t) override { return {}; }

 private:
  void mark(const Mark& one) {
    const std::lock_guard lock(mutex_);
    marks.push_back(one);
  }
  DeviceInfo info_{};
  DeviceAddress next_ = 1 << 20;
  std::vector<std::string> names_;
  mutable std::mutex mutex_;
};

}  // namespace tessera
