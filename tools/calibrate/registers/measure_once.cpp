// What is not a pattern in a loop on one SM: values of early reads, and the whole GPU.
#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "lab/timing/nvml.h"
#include "tools/calibrate/kernels/registers.h"
#include "tools/calibrate/registers/image.h"
#include "tools/calibrate/registers/measure.h"
#include "tools/calibrate/registers/probes.h"
#include "tools/calibrate/registers/program.h"

namespace tessera::calibration {
namespace {

// The first words of a CTA's shared memory after one launch.
std::vector<std::uint32_t> results_of(Device& device, const PatchedImage& image, const Frame& frame,
                                      int threads) {
  std::vector<std::uint32_t> results(kResults);
  const DeviceAddress sink = device.allocate(results.size() * sizeof results[0]);
  const DeviceAddress clocks = device.allocate(1024);
  const DeviceAddress offsets = device.allocate(128);
  Params params{};
  params.offsets = reinterpret_cast<const unsigned*>(offsets);
  params.clocks = reinterpret_cast<long long*>(clocks);
  params.sink = reinterpret_cast<unsigned*>(sink);
  Launch launch;
  launch.entry = frame.entry;
  launch.shape.grid = 1;
  launch.shape.block = threads;
  launch.params.resize(sizeof params);
  std::memcpy(launch.params.data(), &params, sizeof params);
  device.launch(device.load(image.image()), launch);
  device.copy_out(results.data(), sink, results.size() * sizeof results[0]);
  device.free(sink);
  device.free(clocks);
  device.free(offsets);
  return results;
}

// The smallest stall from which on all attempts were right; 0 if the longest was wrong.
int enough(const DistanceProbe& probe, const std::vector<std::uint32_t>& results) {
  int least = 0;
  for (std::size_t i = probe.stalls.size(); i-- > 0 && results[i] == probe.right;) {
    least = probe.stalls[i];
  }
  return least;
}

// Watts while something runs, read again and again from another thread.
class PowerReader {
 public:
  PowerReader() : nvml_(lab::Nvml::load("")) {
    if (nvml_) thread_ = std::thread([this] { read(); });
  }
  ~PowerReader() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // The power and the clock at the last reading, when the GPU has been busy longest.
  Json last() const { return watts_ > 0 ? Json(watts_.load()) : Json(nullptr); }
  Json clock_mhz() const { return clock_ > 0 ? Json(clock_.load()) : Json(nullptr); }

 private:
  void read() {
    while (!done_) {
      if (const auto telemetry = nvml_->read()) {
        watts_ = telemetry->power_w;
        clock_ = telemetry->sm_clock_mhz;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  std::unique_ptr<lab::Nvml> nvml_;
  std::atomic<bool> done_ = false;
  std::atomic<double> watts_ = 0;
  std::atomic<int> clock_ = 0;
  std::thread thread_;
};

const Sequence& named(const std::vector<Sequence>& all, const std::string& name) {
  for (const Sequence& sequence : all) {
    if (sequence.name == name) return sequence;
  }
  throw std::runtime_error("no sequence is called '" + name + "'");
}

int ffmas_in(const Code& code) {
  int count = 0;
  for (const auto& instruction : code) count += sass::name_of(instruction) == "FFMA";
  return count;
}

Json whole_gpu_row(Bench& bench, const Sequence& sequence, int warps, double seconds) {
  constexpr int kLoop = 1440, kGigahertz = 2;
  const int copies = kLoop / static_cast<int>(sequence.pattern.size());
  const PatchedImage image(*sequence.frame, timed_program(sequence, copies));
  Work work{.image = &image.image(), .entry = sequence.frame->entry, .warps = 4 * warps};
  work.ctas = bench.device().info().sms;
  work.iterations = kGigahertz * 10'000'000 / (kLoop * warps);  // some 10 ms
  const int launches = std::max(1, static_cast<int>(seconds * 100));
  const PowerReader power;
  const auto ms = bench.milliseconds(work, launches);
  const double ffmas = double(ffmas_in(sequence.pattern)) * copies * work.iterations * 128 * warps *
                       work.ctas * launches;
  return {{"name", sequence.name},
          {"warps", warps},
          {"milliseconds", ms ? Json(*ms) : Json(nullptr)},
          {"tflops", ms ? Json(2 * ffmas / (*ms * 1e9)) : Json(nullptr)},
          {"sm_clock_mhz", power.clock_mhz()},
          {"power_w", power.last()}};
}

}  // namespace

void measure_distances(Bench& bench, Json& rows) {
  for (const DistanceProbe& probe : distance_probes()) {
    const PatchedImage image(narrow_frame(), probe_program(narrow_frame(), probe.code));
    for (const int threads : {32, 1024}) {
      std::vector<std::uint32_t> results =
          results_of(bench.device(), image, narrow_frame(), threads);
      results.resize(probe.stalls.size());
      Json values = Json::array();
      for (const auto value : results) values.push_back(fmt::format("{:08x}", value));
      rows.push_back({{"first", probe.first},
                      {"second", probe.second},
                      {"yields", probe.yields},
                      {"threads", threads},
                      {"right", fmt::format("{:08x}", probe.right)},
                      {"values_by_stall", values},
                      {"enough", enough(probe, results)}});
    }
  }
}

void measure_whole_gpu(Bench& bench, Json& rows) {
  const auto issue = issue_sequences(), blocks = block_sequences();
  const Sequence& light = named(issue, "FFMA, A and B kept, even; accumulators in both banks");
  for (const int warps : {1, 2, 4, 8}) rows.push_back(whole_gpu_row(bench, light, warps, 0.05));
  const struct {
    const char* name;
    int warps;
  } sustained[] = {{"8x8, 2x2, serpentine, accumulators in not A's bank", 4},
                   {"8x8, rows, accumulators in B's bank", 4},
                   {"8x8, rows, accumulators in B's bank, no flags", 4},
                   {"16x8, 2x2, serpentine, accumulators in not A's bank", 2},
                   {"16x8, rows, accumulators in B's bank", 2}};
  rows.push_back(whole_gpu_row(bench, light, 4, 0.5));
  for (const auto& row : sustained) {
    rows.push_back(whole_gpu_row(bench, named(blocks, row.name), row.warps, 0.5));
  }
}

}  // namespace tessera::calibration
