#include "lab/model/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/occupancy.h"
#include "lab/counts/counts.h"
#include "lab/model/loop_code.h"
#include "lab/model/resources.h"
#include "lab/model/sm_model.h"
#include "sass/container/cubin.h"

namespace tessera::lab {
namespace {

constexpr double kMostlyWaiting = 0.7;  // if no unit has this busy share, the bound is "latency"

// A launch whose time is being predicted.
struct Case {
  const arch::Gpu& gpu;
  const arch::Costs& costs;
  const LaunchCounts& counts;
  const sass::CubinKernel& kernel;

  int warps() const { return static_cast<int>((counts.resources.threads + 31) / 32); }
  double ctas() const { return static_cast<double>(counts.resources.ctas); }
  double ms_of_cycles(double cycles) const { return cycles / (gpu.clock_ghz * 1e6); }
};

// Returns the sectors of loads that were already in L1: all but a CTA's first touch of a sector.
double l1_hits(const LaunchCounts& counts) {
  const auto& memory = counts.memory;
  const double loaded =
      static_cast<double>(memory.loads.global.sectors + memory.copies_in.global.sectors);
  const double fetched = static_cast<double>(memory.footprint.cluster_read_sectors);
  return loaded == 0 ? 0 : std::clamp(1 - fetched / loaded, 0.0, 1.0);
}

double footprint_bytes(const LaunchCounts& counts) {
  return static_cast<double>(counts.memory.footprint.bytes());
}

int resident_ctas(const Case& launch) {
  const auto& resources = launch.counts.resources;
  const arch::Occupancy occupancy =
      arch::occupancy(launch.gpu, {static_cast<int>(resources.threads), launch.kernel.registers,
                                   static_cast<int>(resources.shared_bytes)});
  if (occupancy.blocks > 0) return occupancy.blocks;
  throw StatusError(Status::unsupported(
      fmt::format("{} does not fit on an SM of the {}: {} threads, {} registers each, {} bytes of "
                  "shared memory",
                  launch.kernel.name, launch.gpu.name, resources.threads, launch.kernel.registers,
                  resources.shared_bytes)));
}

// Returns the share of the loop's time in which each unit is busy.
//
// TRIED: bytes over L2's bandwidth as a lower bound of the time. The bound was too long for the
// ladder's kernel 24 at 2048, whose CTAs share the data that they read, in L1 and on the way to L2.
// So L2 counts as the path from L2 to each SM.
std::vector<UnitTime> busy_shares(const LoopCode& code, const LoopTime& time) {
  // WHY at most 1: requests issued in the last measured iterations may be served after these.
  const auto share = [&](double cycles) { return std::min(1.0, cycles / time.cycles); };
  const auto busy = [&](Unit unit) { return share(time.busy[static_cast<int>(unit)]); };
  double shared = 0, global = 0;
  for (const Step& step : code.steps) {
    (step.path == MemoryPath::kShared ? shared : global) +=
        step.path == MemoryPath::kNone ? 0 : std::max(1.0, step.wavefronts);
  }
  const double memory = shared + global > 0 ? busy(Unit::kMemory) / (shared + global) : 0;
  return {{"issue slots", share(time.issue / 4)},
          {"FMA unit", busy(Unit::kFma)},
          {"ALU", busy(Unit::kAlu)},
          {"FP64 unit", busy(Unit::kFp64)},
          {"tensor cores", busy(Unit::kTensor)},
          {"shared memory", memory * shared},
          {"L1", memory * global},
          {"L2", share(time.misses)}};
}

void sort_and_name(LaunchPrediction& launch, double shared_path_ms) {
  std::erase_if(launch.units, [](const UnitTime& unit) { return unit.ms == 0; });
  std::ranges::stable_sort(launch.units, std::ranges::greater{}, &UnitTime::ms);
  launch.bound = launch.units.empty() ? "latency" : launch.units[0].name;
  double most = launch.units.empty() ? 0 : launch.units[0].ms;
  // Shared memory and L1 are one path, so together they may be the limit.
  if (shared_path_ms > most) {
    most = shared_path_ms;
    const auto on_path = [](const UnitTime& unit) {
      return unit.name == "shared memory" || unit.name == "L1";
    };
    launch.bound = std::ranges::find_if(launch.units, on_path)->name;
  }
  if (most < kMostlyWaiting * launch.ms) launch.bound = "latency";
}

// Returns the time of a launch without a loop that multiplies: it only moves data.
LaunchPrediction copy_time(const Case& launch) {
  LaunchPrediction result;
  const double dram = footprint_bytes(launch.counts) / (launch.costs.copy_gbs * 1e6);
  const double starts =
      launch.ms_of_cycles(std::ceil(launch.ctas() / launch.gpu.sms) * launch.costs.cta_start);
  result.ms = std::max(dram, starts);
  result.units = {{"device memory", dram}, {"starts of CTAs", starts}};
  sort_and_name(result, 0);
  return result;
}

// Turns shares of the loop's time into times, and adds device memory, which serves all SMs.
std::vector<UnitTime> units_of(std::vector<UnitTime> shares, double loop_ms, double dram_ms) {
  for (UnitTime& unit : shares) unit.ms *= loop_ms;
  shares.push_back({"device memory", dram_ms});
  return shares;
}

double path_ms(const std::vector<UnitTime>& units) {
  double path = 0;
  for (const UnitTime& unit : units) {
    if (unit.name == "shared memory" || unit.name == "L1") path += unit.ms;
  }
  return path;
}

// Adds the time of the same loop on SMs that are all full: what limits the kernel for any size of
// its grid.
void add_filled(LaunchPrediction& result, const LoopCode& code, const LoopTime& filled,
                const Case& launch, double dram_ms) {
  result.even_ms = launch.ms_of_cycles(result.waves * code.iterations * filled.cycles);
  LaunchPrediction even;
  even.ms = std::max(result.even_ms, dram_ms);
  even.units = units_of(busy_shares(code, filled), result.even_ms, dram_ms);
  sort_and_name(even, path_ms(even.units));
  result.even_units = even.units;
  result.even_bound = even.bound;
}

LaunchPrediction loop_time(const Case& launch, const LoopCode& code) {
  LaunchPrediction result;
  result.ctas_of_sm = resident_ctas(launch);
  const double sms = launch.gpu.sms;
  result.waves = launch.ctas() / (sms * result.ctas_of_sm);
  const double full = std::floor(result.waves);
  const double rest = launch.ctas() - full * sms * result.ctas_of_sm;
  const double hits = l1_hits(launch.counts);
  double cycles = 0;
  std::vector<UnitTime> shares;
  const LoopTime filled = run_loop(code, {result.ctas_of_sm, launch.warps()}, hits, launch.costs);
  const auto add_waves = [&](double waves, int ctas) {
    if (waves == 0 || ctas == 0) return;
    const LoopTime time = ctas == result.ctas_of_sm
                              ? filled
                              : run_loop(code, {ctas, launch.warps()}, hits, launch.costs);
    cycles += waves * code.iterations * time.cycles;
    if (shares.empty()) shares = busy_shares(code, time);
  };
  add_waves(full, result.ctas_of_sm);
  add_waves(1, static_cast<int>(std::ceil(rest / sms)));
  const double loop = launch.ms_of_cycles(cycles);
  result.loop_ms = loop;
  result.wave_ms = std::ceil(result.waves) * launch.costs.wave_us * 1e-3;
  const double dram = footprint_bytes(launch.counts) / (launch.costs.dram_gbs * 1e6);
  const double starts =
      launch.ms_of_cycles(std::ceil(launch.ctas() / sms) * launch.costs.cta_start);
  result.ms = std::max({loop, dram, starts}) + result.wave_ms;
  result.units = units_of(shares, loop, dram);
  sort_and_name(result, path_ms(result.units));
  add_filled(result, code, filled, launch, dram);
  return result;
}

// WHY: the replay covers the loop. The code around the loop is one number per wave; the work of a
// persistent kernel between tiles, or of a warp that only loads, is left out. So for loops that
// keep a resource busy all the time, the predicted time was shorter than the time of all the work
// on that resource.
void hold_to_resources(LaunchPrediction& result, const Case& launch) {
  const std::vector<ResourceUse> uses = resources_of(totals_of(launch.counts), launch.gpu);
  if (uses.empty() || uses.front().ms <= result.ms) return;
  result.ms = uses.front().ms;
  if (result.bound == "latency") result.bound = uses.front().name;
}

// HW: only the FP64 rate of the tensor cores is measured (arch/costs.h), and few GPUs have FP64
// tensor cores.
void refuse_unmeasured_products(const LaunchCounts& counts, const arch::Gpu& gpu) {
  for (const InstructionCount& row : counts.instructions) {
    if (row.warp == 0 || classify(row.form).kind != FormKind::kMatrix) continue;
    if (!is_double(row.form)) {
      throw StatusError(
          Status::unsupported("only FP64 products of tensor cores are replayed, not " + row.form));
    }
    if (gpu.fp64_tensor_lanes == 0) {
      throw StatusError(Status::unsupported(std::string(gpu.name) + " has no FP64 tensor cores"));
    }
  }
}

LaunchPrediction launch_time(const LaunchCounts& counts, std::span<const std::byte> code_of_all,
                             const std::string& entry, const arch::Gpu& gpu,
                             const arch::Costs& costs) {
  const sass::CubinFile cubin = sass::read_cubin(code_of_all);
  const sass::CubinKernel* kernel = cubin.find(entry);
  if (!kernel) throw StatusError(Status::unsupported(entry + " has no machine code here"));
  refuse_unmeasured_products(counts, gpu);
  const Case launch{gpu, costs, counts, *kernel};
  const LoopCode code = loop_code(*kernel, cubin.sm, counts);
  LaunchPrediction time = code.is_empty() ? copy_time(launch) : loop_time(launch, code);
  hold_to_resources(time, launch);
  time.entry = entry;
  return time;
}

}  // namespace

LaunchPrediction predict_launch(const LaunchCounts& counts, std::span<const std::byte> cubin,
                                const std::string& entry, const arch::Gpu& gpu) {
  return launch_time(counts, cubin, entry, gpu, arch::costs_of(gpu));
}

std::string model_name(const arch::Gpu& gpu) {
  const arch::Costs costs = arch::costs_of(gpu);
  if (!costs.is_measured) {
    return "replay of the main loop; rates of data sheets, error unknown";
  }
  return fmt::format(
      "replay of the main loop: median error {:.0f} %, at most {:.0f} % on its fit set",
      100 * costs.median_error, 100 * costs.largest_error);
}

Prediction predict(const CountedRun& run, const arch::Gpu& gpu) {
  return predict(run, gpu, arch::costs_of(gpu));
}

std::optional<Prediction> predict_if_known(const CountedRun& run, const arch::Gpu& gpu,
                                           std::string* why_not) {
  try {
    return predict(run, gpu);
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kUnsupported) throw;
    if (why_not) *why_not = error.status().message;
    return std::nullopt;
  }
}

Prediction predict(const CountedRun& run, const arch::Gpu& gpu, const arch::Costs& costs) {
  Prediction result;
  result.gpu = gpu.name;
  result.model = model_name(gpu);
  double longest = 0;
  for (std::size_t i = 0; i < run.counts.size(); ++i) {
    const std::string& entry = run.launches[i].entry;
    LaunchPrediction time =
        launch_time(run.counts[i], image_of(*run.kernel, entry).cubin, entry, gpu, costs);
    time.launch_ms = (i == 0 ? costs.launch_us : costs.next_launch_us) * 1e-3;
    time.ms += time.launch_ms;
    result.time_ms += time.ms;
    if (time.ms > longest) {
      longest = time.ms;
      result.bound = time.bound;
    }
    result.launches.push_back(std::move(time));
  }
  return result;
}

}  // namespace tessera::lab
