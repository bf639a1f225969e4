// Prepares a plan on a device: loads images, finds entry points, sets kernel attributes and encodes
// tensor maps. Each run then only writes addresses into a copy of the parameters, and launches.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/device.h"
#include "gemm/call/arguments.h"
#include "gemm/plan/plan.h"

namespace tessera::gemm {

// One launch of a plan, with its code loaded. Several threads may call const members at a time.
class PreparedStep {
 public:
  // `image` contains the entry of the step. The second constructor loads the image itself.
  PreparedStep(Modules& modules, const LoadedImage& image, const Step& step);
  PreparedStep(Modules& modules, const Step& step);

  // Writes the arguments into a copy of the parameters; launches on stream `on`. Allocates nothing.
  void launch(const Modules& modules, const Stream& stream, const Step& step,
              const Arguments& arguments, void* on) const;

 private:
  LoadedEntry entry_;
  std::vector<std::byte> params_;  // tensor maps in them have a placeholder address
};

// A prepared plan, valid while its device exists. Several threads may call const members at a time.
class Prepared {
 public:
  const Plan& plan() const { return plan_; }
  // The loaded code of the plan's kernel: "cubin sm_90a". Empty if the plan launches nothing.
  const std::string& code() const { return image_.description; }
  const LoadedImage& image() const { return image_; }

  // Launches of one call: the plan's steps times its rounds (one round, or one per product).
  std::size_t launches() const {
    return launches_.size() * static_cast<std::size_t>(plan_.rounds());
  }
  // Runs launch `number` (from 0) of a call whose arguments passed check(). Allocates nothing.
  void launch(std::size_t number, const Arguments& of_batch, void* stream = nullptr) const;

 private:
  friend Prepared prepare(Modules& modules, const Stream& stream, Plan plan);
  Prepared(const Modules& modules, const Stream& stream, Plan plan)
      : modules_(&modules), stream_(&stream), plan_(std::move(plan)) {}

  const Modules* modules_;
  const Stream* stream_;
  Plan plan_;
  std::vector<PreparedStep> launches_;
  LoadedImage image_;
};

// Loads only the images that contain the plan's entries. Throws kUnavailable if the device cannot
// load an image. If `modules` support it, this is legal while a stream is captured.
Prepared prepare(Modules& modules, const Stream& stream, Plan plan);
inline Prepared prepare(Device& device, Plan plan) {
  return prepare(device, device, std::move(plan));
}

// Checks the arguments, then runs all launches of the plan in order. If check() refuses the
// arguments, throws kBadArgument and launches nothing. Asynchronous if the device is. Allocates
// nothing. A null stream is the device's own stream.
void execute(const Prepared& prepared, const Arguments& arguments, void* stream = nullptr);

}  // namespace tessera::gemm
