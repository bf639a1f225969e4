#include "tests/kernels/run_kernel.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "tests/support/beside.h"

namespace tessera {

DeviceBytes::DeviceBytes(Device& device, const Bytes& bytes)
    : device_(device), size_(bytes.size()), address_(device.allocate(bytes.size())) {
  device.copy_in(address_, bytes.data(), size_);
}

DeviceBytes::~DeviceBytes() { device_.free(address_); }

Bytes DeviceBytes::read() const {
  Bytes bytes(size_);
  device_.copy_out(bytes.data(), address_, size_);
  return bytes;
}

CodeImage kernel_image(const std::string& name) {
  static std::map<std::string, std::string> texts;
  auto& [kept_name, text] = *texts.try_emplace(name).first;
  if (text.empty()) {
    const std::string path = beside_test("tests/kernels/" + name + ".ptx");
    std::ifstream file(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (text.empty()) throw std::runtime_error("cannot read " + path);
  }
  return {.name = kept_name, .ptx = text, .cubin_arch = "sm_90a"};
}

bool can_run_kernels(const Device& device) { return device.info().sm == 90; }

std::vector<vgpu::Finding> launch_and_check(Device& device, const LoadedImage& image,
                                            const Launch& launch) {
  std::vector<vgpu::Finding> findings;
  take_counts(device);
  try {
    device.launch(image, launch);
    device.synchronize();
  } catch (const LaunchFault& fault) {
    findings.push_back(fault.finding());
  }
  for (const LaunchCounts& counts : take_counts(device)) {
    findings.insert(findings.begin(), counts.findings.begin(), counts.findings.end());
  }
  return findings;
}

std::string described(const std::vector<vgpu::Finding>& findings) {
  std::string text;
  for (const vgpu::Finding& finding : findings) {
    text += finding.check + " at";
    for (const vgpu::FindingPlace& place : finding.places) {
      text += " " + std::filesystem::path(place.source_file).filename().string() + ":" +
              std::to_string(place.source_line);
    }
    text += ": " + finding.message + "\n";
  }
  return text;
}

std::vector<vgpu::Observation> checked_schedules() {
  std::vector<vgpu::Observation> all;
  for (const auto schedule : {vgpu::AsyncSchedule::kEager, vgpu::AsyncSchedule::kLazy}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      all.push_back({.checks = true, .schedule = schedule, .warp_order_seed = seed});
    }
  }
  return all;
}

std::string name_of(const vgpu::Observation& observation) {
  const bool lazy = observation.schedule == vgpu::AsyncSchedule::kLazy;
  return (lazy ? "lazy, seed " : "eager, seed ") + std::to_string(observation.warp_order_seed);
}

}  // namespace tessera
