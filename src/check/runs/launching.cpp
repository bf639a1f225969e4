#include "check/runs/launching.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/interrupt.h"
#include "check/maps.h"
#include "check/runs/earlier.h"
#include "check/runs/variables.h"

namespace tessera::checking {

// Joins the lines of a message into one: "... is not implemented at PTX line 5: ...".
std::string one_sentence(const std::string& message) {
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] != '\n') {
      text += message[i];
      continue;
    }
    text += message.compare(i, 6, "\n  at ") == 0 ? "," : ";";
    while (i + 2 < message.size() && message[i + 1] == ' ' && message[i + 2] == ' ') ++i;
  }
  return text;
}

void Watchdog::watch(const std::stop_token& done, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  while (!done.stop_requested()) {
    const std::chrono::duration<double> passed = Clock::now() - begin;
    if (interrupted() || passed.count() > seconds) stop_ = true;
    ended.wait_for(lock, done, std::chrono::milliseconds(20), [] { return false; });
  }
}

CodeImage image_of(const Code& code) {
  CodeImage image;
  image.name = code.path;
  image.ptx = code.ptx;
  return image;
}

std::unique_ptr<VirtualDevice> device_for(const CheckPlan& plan, const Watchdog& watchdog,
                                          vgpu::Observation observation, int host_threads) {
  VirtualDeviceOptions options;
  options.host_threads = host_threads;
  options.observation = observation;
  options.observation.stop = watchdog.stop();
  options.observation.warpgroups_meet = !plan.strict_ptx;
  options.observation.allows_same_values = !plan.strict_ptx;
  options.observation.allows_unfenced_reads = !plan.strict_ptx;
  options.observation.allows_moves_after_fence = !plan.strict_ptx;
  return make_virtual_device(options);
}

namespace {

// Places the data that a part of an argument needs on the device. Expects that the data of the
// parts inside this part are placed already.
void place_part(const CheckPlan& plan, const Argument& part, Placed& placed, Device& device) {
  if (std::holds_alternative<TensorMapArgument>(part.value)) {
    placed.maps[part.name] = encode_map(part, plan.arrays, placed, device);
  }
  if (std::holds_alternative<TextureArgument>(part.value)) {
    const std::vector<std::byte> bytes = encode_texture(part, plan.arrays, placed);
    const DeviceAddress address = device.allocate(bytes.size());
    device.copy_in(address, bytes.data(), bytes.size());
    placed.pointees[part.name] = address;
  }
  if (const auto* pointer = std::get_if<PointerArgument>(&part.value)) {
    const std::vector<std::byte> bytes = value_bytes(pointer->to.front(), placed);
    const DeviceAddress address = device.allocate(bytes.size());
    device.copy_in(address, bytes.data(), bytes.size());
    placed.pointees[part.name] = address;
  }
}

}  // namespace

Placed place(const CheckPlan& plan, Device& device) {
  Placed placed;
  for (const HostArray& array : plan.arrays) {
    const DeviceAddress address = device.allocate(array.bytes.size());
    if (array.initialised) device.copy_in(address, array.bytes.data(), array.bytes.size());
    placed.arrays[array.name] = address;
  }
  for (const auto* arguments : {&plan.pointers, &plan.arguments, &plan.variables}) {
    for (const Argument& argument : *arguments) {
      const bool is_array = std::holds_alternative<PointersArgument>(argument.value);
      if (is_array && arguments != &plan.pointers) continue;  // `pointers` has this argument, too
      for_each_part(argument,
                    [&](const Argument& part) { place_part(plan, part, placed, device); });
    }
  }
  for (const Argument& argument : plan.pointers) {
    const auto bytes = pointer_bytes(std::get<PointersArgument>(argument.value), placed);
    device.copy_in(placed.arrays.at(argument.name), bytes.data(), bytes.size());
  }
  return placed;
}

void launch(const CheckPlan& plan, const Placed& placed, VirtualDevice& device) {
  Launch launch;
  launch.entry = plan.kernel.name;
  launch.shape = plan.shape;
  launch.shape.starts_early = !plan.earlier.empty();
  launch.params = parameter_bytes(plan.kernel, plan.arguments, placed);
  as_bad_argument([&] {
    const LoadedImage image = device.load(image_of(plan.code));
    set_variables(plan, placed, image, device);
    if (!plan.earlier.empty()) launch_ahead(plan, placed, device);
    device.launch(image, launch);
    return 0;
  });
}

std::vector<HostArray> results_of(const CheckPlan& plan, const Placed& placed, Device& device) {
  std::vector<HostArray> results = plan.arrays;
  for (HostArray& array : results) {
    device.copy_out(array.bytes.data(), placed.arrays.at(array.name), array.bytes.size());
  }
  return results;
}

}  // namespace tessera::checking
