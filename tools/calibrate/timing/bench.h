// Runs calibration kernels and turns their clocks into cycles: a short run is subtracted from a
// long one, the smallest of several differences counts.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "tools/calibrate/kernels/params.h"

namespace tessera::calibration {

using Json = nlohmann::ordered_json;

// Where the 32 lanes of a warp read or write, in bytes.
struct Pattern {
  std::string name = "lane 0";
  std::array<unsigned, 32> offset{};
};

struct Work {
  const CodeImage* image;
  std::string entry;
  Pattern pattern = {};
  int warps = 8;  // of a CTA
  int ctas = 1;
  int iterations = 64;  // of the shorter run
  long long cta_stride = 0, warp_stride = 0, bytes = 0;
  int threads = 0;      // instead of whole warps
  long long shift = 0;  // each launch starts so many bytes further on, modulo `bytes`
  int first = 0, second = 0, mask = 1;  // roles of the warps, for collisions
  int step = 0;                         // bytes between the requests of one iteration, of atomics
};

class Bench {
 public:
  // Memory to work on: `bytes` of it, zeros.
  Bench(Device& device, std::size_t bytes);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Device& device() { return device_; }
  bool has_clock() const { return device_.info().kind == DeviceKind::kCuda; }
  std::size_t bytes() const { return bytes_; }
  void copy_in(const void* from, std::size_t bytes);  // to the begin of the memory
  void clear(std::size_t bytes);

  // SM cycles of one iteration, from the first warp's begin to the last one's end: the median over
  // the CTAs. Without a clock the kernel runs once, and there is no value.
  std::optional<double> cycles(const Work& work);
  // The device's milliseconds for `launches` launches in a row.
  std::optional<double> milliseconds(const Work& work, int launches);
  // Clock cycles from begin to end of one launch, and the milliseconds of the same launch.
  std::optional<std::pair<double, double>> cycles_and_milliseconds(const Work& work);
  // How often each instruction stands in the timed loop of an entry, from the cubin.
  Json loop_of(const CodeImage& image, const std::string& entry);

 private:
  void launch(const Work& work, int iterations);
  double clocks(const Work& work);

  Device& device_;
  std::size_t bytes_;
  long long launches_ = 0;
  DeviceAddress data_ = 0, offsets_ = 0, clocks_ = 0, sink_ = 0;
};

}  // namespace tessera::calibration
