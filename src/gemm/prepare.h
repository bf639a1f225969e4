// A plan on its way to be run: images loaded, entries found, attributes set, tensor maps encoded.
// What is left for each run is to write addresses into a copy of the parameters, and to launch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/device.h"
#include "gemm/arguments.h"
#include "gemm/plan.h"

namespace tessera::gemm {

// Holds for as long as its device. Its const members may be called by several threads at a time
// where the device's launch may.
class Prepared {
 public:
  const Plan& plan() const { return plan_; }
  // Which code runs: "cubin sm_90a". Empty for a plan that launches nothing.
  const std::string& code() const { return image_.description; }
  const LoadedImage& image() const { return image_; }

  std::size_t launches() const { return launches_.size(); }
  // One launch with arguments that check() has passed. Allocates nothing.
  void launch(std::size_t index, const Arguments& arguments, void* stream = nullptr) const;

 private:
  friend Prepared prepare(Device& device, Plan plan);
  explicit Prepared(Plan plan) : plan_(std::move(plan)) {}

  struct Ready {
    LoadedEntry entry;
    std::vector<std::byte> params;  // with tensor maps, of a tensor somewhere
  };
  Device* device_ = nullptr;
  Plan plan_;
  std::vector<Ready> launches_;
  LoadedImage image_;
};

// Throws kUnavailable where the device cannot load the code that the plan needs.
Prepared prepare(Device& device, Plan plan);

// Checks the arguments, then launches everything in order. Throws kBadArgument, and nothing is
// launched, where the plan does not hold for them. Asynchronous where the device is; allocates
// nothing. A stream of null is the device's own.
void execute(const Prepared& prepared, const Arguments& arguments, void* stream = nullptr);

}  // namespace tessera::gemm
