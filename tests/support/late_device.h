// A device that does nothing before the host waits for it, and then its streams' work in any order
// that streams and events allow, drawn by a seed. It runs on another device. So a wait that is
// missing shows as a wrong product: a copy out that comes before the launch, a buffer that the host
// fills again before it was read.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"

namespace tessera {

class LateDevice : public Device {
 public:
  LateDevice(Device& on, unsigned seed) : on_(on), random_(seed) {}

  const DeviceInfo& info() const override { return on_.info(); }
  std::size_t memory = ~std::size_t{0};         // bytes that can be allocated
  std::function<void()> before_launch = [] {};  // may throw
  DeviceAddress allocate(std::size_t bytes) override {
    if (bytes > memory) throw OutOfMemory("the memory is full");
    const DeviceAddress address = on_.allocate(bytes);
    memory -= allocated_[address] = bytes;
    return address;
  }
  void free(DeviceAddress address) override {  // HW: cuMemFree waits for the GPU
    finish_all();
    on_.free(address);
    memory += std::exchange(allocated_[address], 0);
  }
  void copy_in(DeviceAddress to, const void* from, std::size_t bytes) override {
    synchronize(nullptr);
    on_.copy_in(to, from, bytes);
  }
  void copy_out(void* to, DeviceAddress from, std::size_t bytes) override {
    synchronize(nullptr);
    on_.copy_out(to, from, bytes);
  }
  LoadedImage load(const CodeImage& image) override { return on_.load(image); }
  LoadedEntry entry(const LoadedImage& image, const std::string& name,
                    const LaunchShape& shape) override {
    return on_.entry(image, name, shape);
  }
  TensorMapBytes encode_tensor_map(const TensorMapDesc& desc) const override {
    return on_.encode_tensor_map(desc);
  }
  void replace_address(std::span<std::byte, 128> map, DeviceAddress address) const override {
    on_.replace_address(map, address);
  }
  void launch(const LoadedEntry& entry, const LaunchShape& shape, std::span<const std::byte> params,
              std::span<const std::size_t> offsets, void* stream) const override {
    before_launch();
    later(stream, [this, entry, shape, params = std::vector(params.begin(), params.end()),
                   offsets = std::vector(offsets.begin(), offsets.end())] {
      on_.launch(entry, shape, params, offsets, nullptr);
    });
  }

  AddressKind kind_of(std::uint64_t address) const override {
    return pinned_.contains(address) ? AddressKind::kHost : AddressKind::kUnknown;
  }
  void* allocate_pinned(std::size_t bytes) override { return on_.allocate_pinned(bytes); }
  void free_pinned(void* memory) override {
    finish_all();
    on_.free_pinned(memory);
  }
  // The caller's own memory from this address on is pinned.
  void pin(const void* memory) { pinned_.insert(reinterpret_cast<std::uint64_t>(memory)); }
  int copies_in = 0;  // of lines, on a stream
  void copy_in(DeviceAddress to, const void* from, const CopyShape& shape, void* stream) override {
    ++copies_in;
    later(stream, [=, this] { on_.copy_in(to, from, shape, nullptr); });
  }
  void copy_out(void* to, DeviceAddress from, const CopyShape& shape, void* stream) override {
    later(stream, [=, this] { on_.copy_out(to, from, shape, nullptr); });
  }
  void* make_stream() override { return new char; }
  void destroy_stream(void* stream) override {
    finish(stream);
    streams_.erase(stream);
    delete static_cast<char*>(stream);
  }
  void* make_event() override { return new Event; }
  void destroy_event(void* event) override {
    finish_all();
    delete static_cast<Event*>(event);
  }
  void record(void* event, void* stream) override {
    auto* const marked = static_cast<Event*>(event);
    const int number = ++marked->recorded;
    later(stream, [=] { marked->reached = number; });
  }
  void wait(void* stream, void* event) override {
    const auto* const marked = static_cast<Event*>(event);
    streams_[stream].push_back(
        {[] {}, [marked, number = marked->recorded] { return marked->reached >= number; }});
  }
  void wait_for(void* event) override {
    const auto* const marked = static_cast<Event*>(event);
    run_until([marked, number = marked->recorded] { return marked->reached >= number; });
  }
  using Device::synchronize;
  void synchronize(void* stream) override {
    finish(stream);
    on_.synchronize(nullptr);
  }
  std::uint64_t record_mark() override { return on_.record_mark(); }
  std::optional<double> milliseconds_between(std::uint64_t begin, std::uint64_t end) override {
    return on_.milliseconds_between(begin, end);
  }
  // Work that was given to it and not done yet.
  std::size_t pending() const {
    std::size_t count = 0;
    for (const auto& [stream, work] : streams_) count += work.size();
    return count;
  }
  // Does one piece of work of any stream, as a GPU may do at any time.
  void do_some() {
    if (pending() > 0) do_one();
  }

 private:
  struct Event {
    int recorded = 0, reached = 0;
  };
  struct Work {
    std::function<void()> run;
    std::function<bool()> may_run = [] { return true; };
  };

  void later(void* stream, std::function<void()> run) const {
    streams_[stream].push_back({std::move(run)});
  }
  void do_one() const {
    std::vector<std::deque<Work>*> ready;
    for (auto& [stream, work] : streams_) {
      if (!work.empty() && work.front().may_run()) ready.push_back(&work);
    }
    if (ready.empty()) throw StatusError(Status::failed("streams wait for each other"));
    std::deque<Work>& work = *ready[random_() % ready.size()];
    const Work next = std::move(work.front());
    work.pop_front();
    next.run();
  }
  void run_until(const std::function<bool()>& is_done) const {
    while (!is_done()) do_one();
  }
  void finish(void* stream) const {
    run_until([&] { return streams_[stream].empty(); });
  }
  void finish_all() const {
    run_until([&] { return pending() == 0; });
  }

  Device& on_;
  mutable std::mt19937 random_;
  mutable std::map<void*, std::deque<Work>> streams_;
  std::set<std::uint64_t> pinned_;
  std::map<DeviceAddress, std::size_t> allocated_;
};

}  // namespace tessera
