#include "lab/explain/explain.h"

#include <algorithm>

#include "arch/gpus.h"
#include "arch/occupancy.h"
#include "lab/counts/count_tag.h"
#include "lab/explain/advice/products.h"
#include "lab/explain/rest.h"
#include "lab/explain/roofline.h"
#include "sass/container/cubin.h"

namespace tessera::lab {
namespace {

// Counts words of the multiplying launch, without launches that pack. A word in global memory is an
// element of the type that is read or written. In shared memory it is an element of the type of the
// sums, because kernels on CUDA cores convert operands before they store them there.
WordCounts words_counted(const std::vector<Site>& sites, const std::string& entry,
                         const Types& types) {
  WordCounts words;
  for (const Site& site : sites) {
    if (site.entry != entry) continue;
    const bool loads = site.memory.traffic == vgpu::Traffic::kLoad ||
                       site.memory.traffic == vgpu::Traffic::kCopyIn;
    const auto global = static_cast<double>(site.memory.global.requested_bytes);
    const auto shared = static_cast<double>(site.memory.shared.requested_bytes);
    (loads ? words.global_reads : words.global_writes) += global;
    (loads ? words.shared_reads : words.shared_writes) += shared;
  }
  const int sum = size_of(facts_of(types.compute).sum);
  words.global_reads /= size_of(types.a), words.global_writes /= size_of(types.d);
  words.shared_reads /= sum, words.shared_writes /= sum;
  return words;
}

// Computes how many blocks of `placement` fit on an SM, from its threads, registers and bytes.
void fill_sm(Placement& placement, const arch::Gpu& gpu) {
  placement.sms = gpu.sms;
  const arch::Occupancy filled =
      arch::occupancy(gpu, {.threads = placement.threads,
                            .registers = placement.registers,
                            .shared_bytes = static_cast<int>(placement.shared_bytes)});
  placement.ctas = filled.blocks;
  placement.warps = filled.warps;
  placement.max_warps = filled.max_warps;
  placement.limited_by = arch::name_of(filled.limit);
}

Placement placement_of(const CountedRun& run, const arch::Gpu& gpu) {
  Placement placement;
  placement.threads = run.row->threads * run.row->threads_y;
  placement.grid = static_cast<std::uint64_t>(run.launches.back().shape.grid);
  placement.sms = gpu.sms;
  const CodeImage& image = image_of(*run.kernel, run.row->entry);
  if (image.cubin.empty()) return placement;
  const sass::CubinFile cubin = sass::read_cubin(image.cubin);
  if (const sass::CubinKernel* code = cubin.find(run.row->entry)) {
    placement.registers = code->registers;
    placement.shared_bytes = code->shared_bytes + run.launches.back().shape.shared_bytes;
    placement.local_bytes = code->local_bytes;
  }
  fill_sm(placement, gpu);
  return placement;
}

Placement placement_of(const ForeignLaunch& launch, std::span<const std::byte> cubin,
                       const arch::Gpu& gpu) {
  const vgpu::LaunchResources& resources = launch.counts.resources;
  Placement placement;
  placement.threads = static_cast<int>(resources.threads);
  placement.grid = resources.ctas;
  placement.registers = static_cast<int>(resources.live_registers);
  placement.shared_bytes = resources.shared_bytes;
  placement.local_bytes = resources.local_bytes;
  if (!cubin.empty()) {
    const sass::CubinFile file = sass::read_cubin(cubin);
    if (const sass::CubinKernel* code = file.find(launch.entry)) {
      placement.registers = code->registers;
      placement.local_bytes = code->local_bytes;
    }
  }
  fill_sm(placement, gpu);
  return placement;
}

bool moves_registers(const sass::CubinKernel& kernel) {
  return std::ranges::any_of(kernel.histogram,
                             [](const auto& one) { return one.first.starts_with("USETMAXREG"); });
}

std::vector<std::string> entries_of(const CountedRun& run) {
  std::vector<std::string> entries;
  for (const Launch& launch : run.launches) entries.push_back(launch.entry);
  return entries;
}

// WHY: in a grid that leaves SMs empty, units wait because the problem is small, and a larger
// problem cures that. So for such a launch the replay of SMs that are all full is reported, and a
// small and a large problem get the same explanation.
Replay replay_of(const LaunchPrediction& launch) {
  const bool fills = launch.waves >= 1;
  const std::vector<UnitTime>& units = fills ? launch.units : launch.even_units;
  const std::string& bound = fills ? launch.bound : launch.even_bound;
  if (launch.even_units.empty() || units.empty()) return {};
  const auto named = std::ranges::find(units, bound, &UnitTime::name);
  const UnitTime& unit = named == units.end() ? units.front() : *named;
  return {.known = true,
          .fills_the_gpu = fills,
          .waits = bound == "latency",
          .ms = fills ? launch.ms - launch.launch_ms : launch.even_ms,
          .busiest = unit.name,
          .busy_ms = unit.ms};
}

// Adds a resource that is not in the table of rates but that the verdict names.
void add_replayed(Evidence& evidence) {
  const Replay& replay = evidence.replay;
  if (!replay.known) return;
  const Totals& totals = evidence.totals;
  if (replay.busiest == "ALU") {
    evidence.resources.push_back({Resource::kAlu, "ALU, in the replay", totals.integer,
                                  "integer instructions of the PTX", replay.busy_ms});
  } else if (replay.busiest == "L2") {
    evidence.resources.push_back({Resource::kL2, "L2, in the replay", totals.sector_bytes,
                                  "bytes of sectors", replay.busy_ms});
  }
  std::ranges::stable_sort(evidence.resources, std::ranges::greater{}, &ResourceUse::ms);
}

void add_replay(Evidence& evidence, const std::optional<Prediction>& prediction) {
  if (!prediction || prediction->launches.empty() || evidence.resources.empty()) return;
  const LaunchPrediction& launch = prediction->launches.back();
  Replay& replay = evidence.replay = replay_of(launch);
  add_replayed(evidence);
  const double bound = evidence.resources.front().ms;
  replay.predicted_ms = prediction->time_ms;
  replay.rest = replay.fills_the_gpu ? rest_of(prediction->launches, bound)
                                     : std::vector<UnitTime>{{kUnhidden, replay.ms - bound}};
}

// Returns the components by which a prediction exceeds the bound (the longest resource's time).
// Empty if the prediction is at most kExplained times the bound.
std::vector<UnitTime> rest_of(const Prediction& prediction, const Evidence& evidence) {
  constexpr double kExplained = 1.5;
  if (evidence.resources.empty()) return {};
  const double bound = evidence.resources.front().ms;
  if (prediction.time_ms <= kExplained * bound) return {};
  return rest_of(prediction.launches, bound);
}

// WHY the model's error is given only for products: it was measured on kernels that multiply.
std::string model_of(const LaunchPrediction& launch, bool multiplies, const arch::Gpu& gpu) {
  if (launch.even_units.empty()) {
    return "the longest time above, bytes at the rate of a copy, and the start of each block; "
           "nothing is replayed, and the error is not known";
  }
  return multiplies ? model_name(gpu) + ", this library's kernels"
                    : "replay of the main loop, calibrated on kernels that multiply; its error for "
                      "others is not known";
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

std::string limited_by(const CountedRun& run, const arch::Gpu& gpu) {
  if (run.counts.empty() || !run.counts.back().memory.counted) return {};
  Evidence evidence;
  evidence.sites = sites_of(run, SourceTree(""));
  evidence.totals = totals_of(run, evidence.sites);
  evidence.resources = resources_of(evidence.totals, gpu);
  add_replay(evidence, predict_if_known(run, gpu));
  return limited_by(evidence);
}

Explanation explain(const CountedRun& run, const arch::Gpu& gpu, const SourceTree& tree) {
  Explanation e;
  e.kernel = run.kernel->name;
  e.counted_as = run.kernel->patched_from;
  e.config = run.row->variant;
  e.entry = run.row->entry;
  e.problem = run.problem;
  e.gpu = gpu;
  e.counts = summarize(run.counts, run.problem);
  set_tag(e.counts, *run.kernel, entries_of(run));
  e.ctas = run.counts.back().sample.clusters;
  e.ran = run.counts.back().sample.ran;

  e.evidence.sites = sites_of(run, tree);
  e.evidence.totals = totals_of(run, e.evidence.sites);
  e.evidence.resources = resources_of(e.evidence.totals, gpu);
  e.evidence.placement = placement_of(run, gpu);
  e.code_arch = image_of(*run.kernel, run.row->entry).cubin_arch;
  e.prediction = predict_if_known(run, gpu, &e.not_predicted);
  add_replay(e.evidence, e.prediction);
  if (e.prediction) e.rest = rest_of(*e.prediction, e.evidence);

  const bool packed = !run.kernel->helpers.empty();
  const WordCounts words = words_counted(e.evidence.sites, e.entry, run.problem.types);
  e.formulas = check_formulas(run.problem, *run.row, packed, e.counts.matrix.warp > 0, words);
  e.reads_per_shared_word = ratio(words.shared_reads, words.shared_writes);
  const WordFormulas formulas = word_formulas(run.problem, *run.row, packed);
  const double flop = formulas.flop;
  e.intensities = {ratio(flop, e.evidence.totals.requested_bytes),
                   ratio(flop, e.evidence.totals.sector_bytes),
                   ratio(flop, e.evidence.totals.footprint_bytes),
                   intensity(flop, formulas.once, run.problem.types.a)};

  e.peak_tflops = data_sheet_peak(gpu, run.problem.types, e.counts.matrix.warp > 0);

  e.limited_by = limited_by(e.evidence);
  const bool has_unit = e.peak_tflops > 0 || e.counts.matrix.warp == 0;
  e.verdict =
      has_unit ? verdict(e.evidence)
               : "No verdict: " + e.not_predicted + ", and what follows leaves the products out.";
  e.advice = advise(e.evidence);
  e.costly = by_cost(e.evidence);
  return e;
}

bool is_started(const CodeNeeds& needs, int threads) {
  return arch::occupancy(arch::kH200, {.threads = threads, .registers = needs.registers}).blocks !=
         0;
}

int registers_of_sm() { return arch::kH200.registers; }

CodeNeeds needs_of(std::span<const std::byte> cubin, const std::string& entry) {
  const sass::CubinFile file = sass::read_cubin(cubin);
  const sass::CubinKernel* code = file.find(entry);
  return code ? CodeNeeds{code->registers, moves_registers(*code)} : CodeNeeds{};
}

Explanation explain_launch(const ForeignLaunch& launch, std::span<const std::byte> cubin,
                           const arch::Gpu& gpu) {
  Explanation e;
  e.entry = e.kernel = launch.entry;
  e.gpu = gpu;
  e.ctas = launch.counts.sample.clusters;
  e.ran = launch.counts.sample.ran;
  e.evidence.sites = sites_of(launch);
  e.evidence.totals = totals_of(launch.counts);
  e.evidence.resources = resources_of(e.evidence.totals, gpu);
  e.evidence.placement = placement_of(launch, cubin, gpu);
  e.evidence.multiplies = multiplies(launch.counts, launch.ptx, launch.entry);
  try {
    if (cubin.empty()) throw StatusError(Status::unsupported(launch.no_code));
    Prediction prediction;
    prediction.gpu = gpu.name;
    prediction.launches = {predict_launch(launch.counts, cubin, launch.entry, gpu)};
    prediction.model = model_of(prediction.launches[0], e.evidence.multiplies, gpu);
    prediction.launches[0].launch_ms = arch::costs_of(gpu).launch_us * 1e-3;
    prediction.launches[0].ms += prediction.launches[0].launch_ms;
    prediction.time_ms = prediction.launches[0].ms;
    prediction.bound = prediction.launches[0].bound;
    e.prediction = prediction;
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kUnsupported) throw;
    e.not_predicted = error.status().message;
  }
  add_replay(e.evidence, e.prediction);
  if (e.prediction) {
    e.rest = rest_of(*e.prediction, e.evidence);
    e.evidence.launch_share = e.prediction->launches[0].launch_ms / e.prediction->time_ms;
  }
  e.limited_by = limited_by(e.evidence);
  e.verdict = verdict(e.evidence);
  e.advice = advise(e.evidence);
  e.costly = by_cost(e.evidence);
  return e;
}

}  // namespace tessera::lab
