// A plan on a device: images loaded, entries found, attributes set, tensor maps encoded. Each run
// then only writes addresses into a copy of the parameters, and launches.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/device.h"
#include "gemm/call/arguments.h"
#include "gemm/plan/plan.h"

namespace tessera::gemm {

// A step whose code is loaded. Its const members may be called by several threads at a time.
class PreparedStep {
 public:
  // `image`: of the step's entry.
  PreparedStep(Modules& modules, const LoadedImage& image, const Step& step);
  PreparedStep(Modules& modules, const Step& step);

  // Writes the addresses into a copy of the parameters, and launches. Allocates nothing.
  void launch(const Modules& modules, const Stream& stream, const Step& step,
              const Arguments& arguments, void* on) const;

 private:
  LoadedEntry entry_;
  std::vector<std::byte> params_;  // with tensor maps, whose address is a placeholder
};

// Valid as long as its device. Its const members may be called by several threads at a time.
class Prepared {
 public:
  const Plan& plan() const { return plan_; }
  // Which code runs the plan's row: "cubin sm_90a". Empty for a plan that launches nothing.
  const std::string& code() const { return image_.description; }
  const LoadedImage& image() const { return image_; }

  // Launches of one call: all launches of the plan, once for each of its rounds.
  std::size_t launches() const {
    return launches_.size() * static_cast<std::size_t>(plan_.rounds());
  }
  // Launches one of them with arguments that check() has passed. Allocates nothing.
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

// Loads the images of the plan's entries, and no others. Throws kUnavailable if the device cannot
// load one of them. Legal while a stream is captured if the modules support that.
Prepared prepare(Modules& modules, const Stream& stream, Plan plan);
inline Prepared prepare(Device& device, Plan plan) {
  return prepare(device, device, std::move(plan));
}

// Checks the arguments, then launches everything in order. If the plan was not made for them, it
// throws kBadArgument and launches nothing. Asynchronous if the device is; allocates nothing. A
// null stream is the device's own.
void execute(const Prepared& prepared, const Arguments& arguments, void* stream = nullptr);

}  // namespace tessera::gemm
