// A device for testing the lab itself: host memory with known bounds, and a "kernel" that is a
// triple loop which can be told to be wrong. Poses as a real GPU when a clock is wanted.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/elements.h"
#include "catalog/catalog.h"
#include "catalog/rung.h"
#include "device/virtual/observer.h"
#include "launch/add_params.h"
#include "launch/params.h"

namespace tessera::lab {

// What the fake kernel does wrong.
enum class Bug {
  kNone,
  kDropsLastK,
  kLeavesOneEntry,
  kIgnoresBeta,
  kReadsCAlways,
  kWritesGap,
  kWritesBefore,
  kWritesBehind,
  kChangesA,
  kReadsGapOfB,
  kOffByOneUlps,  // 2^-18 relative: beyond any bound here
  kFaults,
  kChangesC,
};

class FakeDevice : public Device, public Observer {
 public:
  explicit FakeDevice(DeviceKind kind = DeviceKind::kVirtual, Bug bug = Bug::kNone) : bug_(bug) {
    info_.kind = kind;
    info_.name = kind == DeviceKind::kCuda ? "Fake GPU" : "virtual";
    info_.l2_bytes = 1 << 16;
  }

  double ms_per_launch = 1;
  std::map<std::string, double> ms_of_image;   // where it is another one than ms_per_launch
  std::set<std::string> images_of_other_bits;  // whose last entry is rounded another way
  mutable int launches = 0;
  int dies_at = -1;  // the launch, counted from 0, that ends all work
  bool loads_images = true;
  bool adds_twice = false;                     // what X += B does wrong
  mutable std::vector<DeviceAddress> outputs;  // D of each launch

  const DeviceInfo& info() const override { return info_; }
  DeviceAddress allocate(std::size_t bytes) override {
    if (bytes == 0) return 0;
    auto block = std::make_unique<std::vector<std::byte>>(bytes + 512);
    const auto base = reinterpret_cast<DeviceAddress>(block->data());
    const DeviceAddress address = (base + 255) / 256 * 256;
    blocks_[address] = std::move(block);
    return address;
  }
  void free(DeviceAddress address) override { ASSERT_EQ(blocks_.erase(address), 1u); }
  std::size_t live_blocks() const { return blocks_.size(); }
  void copy_in(DeviceAddress to, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void copy_out(void* to, DeviceAddress from, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  }

  LoadedImage load(const CodeImage& image) override {
    if (!loads_images) throw StatusError(Status::unavailable("this GPU cannot load the image"));
    return {1, "fake image", std::as_bytes(std::span(image.name)), true};  // its code is its name
  }
  LoadedEntry entry(const LoadedImage& image, const std::string& name,
                    const LaunchShape&) override {
    const auto* const code = reinterpret_cast<const char*>(image.code.data());
    entries_.push_back({std::string(code, image.code.size()), name});
    return {entries_.size()};
  }
  void launch(const LoadedEntry& loaded, const LaunchShape&, std::span<const std::byte> params,
              std::span<const std::size_t>, void*) const override {
    const auto& [image_name, entry] = entries_.at(loaded.handle - 1);
    if (launches == dies_at) throw StatusError(Status::unavailable("the device is gone"));
    ++launches;
    trace += 'k';
    const auto own = ms_of_image.find(image_name);
    now_ += own == ms_of_image.end() ? ms_per_launch : own->second;
    if (bug_ == Bug::kFaults) {
      vgpu::Finding finding;
      finding.check = "out-of-bounds";
      throw LaunchFault(Status::failed("out of bounds at line 7"), finding);
    }
    if (entry == catalog::kAddEntry) return add(params);
    GemmParams p;
    const std::array names = {"f64", "f32", "bf16", "bf16,bf16,f32,f32,f32"};
    if (std::ranges::find(names, entry) == names.end()) return;  // packs, or adds
    std::memcpy(&p, params.data(), sizeof p);
    outputs.push_back(reinterpret_cast<DeviceAddress>(p.d));
    if (entry == "f64") run<double, double, double>(p);
    if (entry == "f32") run<float, float, float>(p);
    if (entry == "bf16") run<Bfloat16, float, Bfloat16>(p);
    if (entry == "bf16,bf16,f32,f32,f32") run<Bfloat16, float, float>(p);
    if (images_of_other_bits.contains(image_name)) round_otherwise(p);
    if (info_.kind == DeviceKind::kVirtual) {
      const auto fmas = static_cast<std::uint64_t>(p.m * p.n * p.k);
      counts_.push_back({{{"fma.rn.f32", 1, fmas / 32, fmas}}, fmas / 32, fmas, 0.25, {}});
    }
  }
  void synchronize(void*) override {}
  std::uint64_t record_mark() override {
    marks_.push_back(now_);
    return marks_.size() - 1;
  }
  std::optional<double> milliseconds_between(std::uint64_t begin, std::uint64_t end) override {
    if (info_.kind == DeviceKind::kVirtual) return std::nullopt;
    return marks_.at(end) - marks_.at(begin);
  }
  std::vector<LaunchCounts> take_counts() override { return std::exchange(counts_, {}); }
  void observe(const vgpu::Observation&) override {}
  std::vector<vgpu::KernelSignature> kernels(const LoadedImage&) const override { return {}; }
  bool is_written(DeviceAddress, std::size_t) const override { return true; }
  std::vector<vgpu::ModuleVariable> variables(const LoadedImage&) const override { return {}; }
  // A call of another library.
  void advance(double milliseconds) {
    trace += 'v';
    now_ += milliseconds;
  }
  mutable std::string trace;  // of launches, k, and calls of another library, v

 private:
  void add(std::span<const std::byte> params) const {
    AddParams p;
    std::memcpy(&p, params.data(), sizeof p);
    for (long long e = 0; e < p.count; ++e) {
      static_cast<double*>(p.x)[e] +=
          adds_twice ? 2 * static_cast<const double*>(p.b)[e] : static_cast<const double*>(p.b)[e];
    }
  }
  // As another order of the sums may: integers stay what they are.
  void round_otherwise(const GemmParams& p) const {
    float& last = static_cast<float*>(p.d)[(p.m - 1) * p.d_row + p.n - 1];
    if (last != std::floor(last)) last = std::nextafter(last, 0.0F);
  }
  // Operands of type In, sums of type T, C and D of type Out.
  template <class In, class T, class Out>
  void run(const GemmParams& p) const {
    const In* a = static_cast<const In*>(p.a);
    const In* b = static_cast<const In*>(p.b);
    const Out* c = static_cast<const Out*>(p.c);
    Out* d = static_cast<Out*>(p.d);
    const bool reads_c = bug_ == Bug::kReadsCAlways ? c != nullptr : p.beta != 0;
    for (long long i = 0; i < p.m; ++i) {
      for (long long j = 0; j < p.n; ++j) {
        if (bug_ == Bug::kLeavesOneEntry && i == p.m - 1 && j == p.n - 1) continue;
        T sum = 0;
        const long long depth = bug_ == Bug::kDropsLastK ? p.k - 1 : p.k;
        for (long long k = 0; k < depth; ++k) {
          sum = std::fma(static_cast<T>(a[i * p.a_row + k * p.a_col]),
                         static_cast<T>(b[k * p.b_row + j * p.b_col]), sum);
        }
        T value = static_cast<T>(p.alpha) * sum;
        const T beta = bug_ == Bug::kIgnoresBeta ? T{1} : static_cast<T>(p.beta);
        if (reads_c) value = std::fma(beta, static_cast<T>(c[i * p.c_row + j]), value);
        if (bug_ == Bug::kOffByOneUlps) value *= T{1} + T{0x1p-18};
        if (bug_ == Bug::kReadsGapOfB && j == p.n - 1) value += static_cast<T>(b[p.n * p.b_col]);
        d[i * p.d_row + j] = element_of<Out>(value);
      }
    }
    if (bug_ == Bug::kWritesGap) d[p.n] = Out{};
    if (bug_ == Bug::kWritesBefore) d[-1] = Out{};
    if (bug_ == Bug::kWritesBehind) d[(p.m - 1) * p.d_row + p.n] = Out{};
    if (bug_ == Bug::kChangesA)
      const_cast<In*>(a)[0] = element_of<In>(static_cast<double>(a[0]) + 1);
    if (bug_ == Bug::kChangesC) const_cast<Out*>(c)[0] = Out{};
  }

  Bug bug_;
  DeviceInfo info_;
  mutable double now_ = 0;
  std::map<DeviceAddress, std::unique_ptr<std::vector<std::byte>>> blocks_;
  std::vector<double> marks_;
  std::vector<std::pair<std::string, std::string>> entries_;  // of the image, its own
  mutable std::vector<LaunchCounts> counts_;
};

// A kernel of one launch for the fake device, on the image of a real one of the catalog.
inline Kernel fake_kernel(const Types& types) {
  Kernel kernel;
  kernel.name = "02_coalesced";
  kernel.idea = "fake";
  kernel.types = types;
  KernelRow row;
  row.variant = "only";
  row.entry = name_of(types);
  row.image = "02_coalesced__32x32";
  row.majors = {Major::kStrided, Major::kStrided};
  row.block = {32, 32, 32};
  row.threads = 32;
  kernel.rows = {row};
  kernel.family = "one_launch";
  return kernel;
}

}  // namespace tessera::lab
