#include "lab/bench/timed_bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "gemm/rewrites/widen.h"
#include "lab/data/batch_memory.h"

namespace tessera::lab {
namespace {

// Returns cuBLAS' default call and the fastest cuBLASLt candidate, which is found by short bursts.
// These calls are timed again together with the kernels.
std::vector<VendorCall> choose_calls(Device& device, Timer& timer, const Problem& problem,
                                     const OperandsOf& operands, const BenchOptions& options) {
  if (!options.vendor) return {};
  options.say("choosing the vendor's candidate");
  MeasureOptions quick = options.measure;
  quick.rounds = 1;
  quick.idle_ms /= 5;
  quick.burst_ms /= 5;
  quick.stop = options.stop;
  quick.progress = nullptr;
  quick.on_busy = nullptr;
  return choose_vendor_calls(device, timer, options.vendor->calls(problem), operands, quick);
}

Problem problem_of_vendor(Problem problem) {
  problem.types = gemm::widened(problem.types);
  return problem;
}

double tflop_of(const Problem& p) { return 1e-12 * flop_of(p); }

void add_time(Record& record, Mode mode, const Samples& samples, const BenchOptions& options,
              const std::optional<VendorTime>& vendor) {
  if (samples.milliseconds.empty()) return;
  record.mode = mode;
  record.time_ms = summarize(samples.milliseconds);
  record.calls_per_sample = samples.calls_per_sample;
  record.rounds = samples.rounds;
  record.order_seed = options.measure.seed;
  if (options.keep_samples) record.samples_ms = samples.milliseconds;
  record.tflops = tflop_of(record.problem) / (record.time_ms->median * 1e-3);
  record.vendor = vendor;
  if (vendor) record.ratio_to_vendor = vendor->time_ms.median / record.time_ms->median;
}

Companion companion_of(const Record& record) {
  Companion c;
  c.kernel = record.kernel;
  c.config = record.config;
  c.image_hash = record.image_hash;
  c.workspace_limit = record.workspace_limit;
  c.workspace_bytes = record.workspace_bytes;
  c.verified = record.verified;
  c.reason = record.reason;
  if (record.time_ms) c.time_ms = record.time_ms->median;
  c.tflops = record.tflops;
  c.ratio_to_vendor = record.ratio_to_vendor;
  return c;
}

// Adds the gain of rewriting. `before` is the record of the code as ptxas wrote it.
void add_gain(const Record& before, const BenchRow& row, Companion& after) {
  after.rewriting = row.candidate->rewriting;
  after.by_model = row.candidate->by_model;
  if (after.time_ms && before.time_ms) after.speedup = before.time_ms->median / *after.time_ms;
  if (before.d_hash.empty() || row.record.d_hash.empty()) return;
  after.same_bits = before.d_hash == row.record.d_hash;
}

}  // namespace

void set_code(Record& record, const LoadedImage& image, const std::string& plan,
              std::int64_t workspace_bytes) {
  record.image = (record.other_build ? "other build's " : "") + image.description;
  record.image_hash = hash_of(image.code);
  record.image_is_patched = image.is_patched;
  record.plan = plan;
  record.workspace_bytes = workspace_bytes;
}

std::uint64_t order_seed_of(std::uint64_t seed, const Problem& p, Mode mode) {
  for (const std::int64_t word :
       {p.m, p.n, p.k, static_cast<std::int64_t>(p.op_a), static_cast<std::int64_t>(p.op_b),
        static_cast<std::int64_t>(p.order), static_cast<std::int64_t>(mode)}) {
    seed = mix_bits(seed + static_cast<std::uint64_t>(word));
  }
  return seed;
}

TimedBench::TimedBench(Device& device, const Problem& problem, std::vector<BenchRow>& rows,
                       const BenchOptions& options)
    : options_(options),
      problem_(problem),
      rows_(rows),
      timer_(device),
      sets_(device, problem, {options.verify.fill, options.verify.seed}),
      vendor_problem_(problem_of_vendor(problem)),
      vendor_operands_([this](std::int64_t i) -> const Operands& {
        return vendor_sets_ ? (*vendor_sets_)[i] : sets_[i];
      }),
      nvml_(Nvml::load(device.info().pci_bus_id)) {
  for (BenchRow& row : rows_) bind(device, problem, row);
  if (options_.vendor && vendor_problem_.types != problem.types) {
    vendor_sets_ = std::make_unique<OperandSets>(
        device, vendor_problem_, FillSpec{options_.verify.fill, options_.verify.seed});
  }
  vendor_calls_ = choose_calls(device, timer_, vendor_problem_, vendor_operands_, options_);
  for (const VendorCall& call : vendor_calls_) {
    candidates_.push_back(candidate_of(call, vendor_operands_));
  }
}

void TimedBench::bind(Device& device, const Problem& problem, BenchRow& row) {
  if (!row.is_timed) return;
  gemm::PlanOptions plan = options_.verify.plan;
  plan.workspace_limit = row.candidate->workspace_limit;
  try {
    bound_.push_back(std::make_unique<PreparedCall>(device, row.candidate->choice, problem,
                                                    gemm::alignment_of(sets_[0]), plan));
  } catch (const StatusError& error) {
    row.is_timed = false;
    row.record.reason = error.what();
    return;
  }
  for (std::int64_t i = 0; i < sets_.size(); ++i) bound_.back()->pack(device, sets_[i]);
  const PreparedCall& bound = *bound_.back();
  set_code(row.record, bound.image(), bound.plan().offers.front().name(), bound.workspace_bytes());
  row.record.host_us = bound.host_time(device, sets_);
  timed_rows_.push_back(&row);
  candidates_.push_back(
      {row.record.kernel, [this, &bound](std::int64_t i) { bound.run(sets_[i]); }});
}

std::vector<Samples> TimedBench::measure_all(Mode mode) {
  telemetry_.assign(candidates_.size(), std::nullopt);
  MeasureOptions how = options_.measure;
  how.seed = order_seed_of(how.seed, problem_, mode);
  how.stop = options_.stop;
  how.progress = [&](int done, int groups) {
    options_.say(fmt::format("{} {}/{}", name_of(mode), done, groups));
  };
  how.on_busy = [&](std::size_t i) {
    const auto now = nvml_ ? nvml_->read() : std::nullopt;
    if (now) telemetry_[i] = *now;
  };
  return measure(timer_, candidates_, mode, how);
}

TimedBench::Records TimedBench::run(Mode mode) {
  const std::vector<Samples> samples = measure_all(mode);
  const std::optional<std::size_t> best = fastest(samples, bound_.size());
  std::optional<VendorTime> vendor;
  if (best) {
    const char* const operands = vendor_sets_ ? ", FP32 operands" : "";
    vendor = VendorTime{
        fmt::format("{} ({}{})", samples[*best].name, options_.vendor->version(), operands),
        summarize(samples[*best].milliseconds), options_.vendor->workspace_bytes()};
  }
  Records records;
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    Record record = timed_rows_[i]->record;
    add_time(record, mode, samples[i], options_, vendor);
    record.telemetry = telemetry_[i];
    records.emplace_back(timed_rows_[i], std::move(record));
  }
  if (options_.energy && mode == Mode::kSustained) add_energy(records, samples, best);
  add_companions(records);
  return records;
}

void TimedBench::add_energy(Records& records, const std::vector<Samples>& samples,
                            std::optional<std::size_t> vendor) {
  std::vector<EnergyCandidate> running;
  const auto add = [&](std::size_t i) {
    running.push_back({candidates_[i], summarize(samples[i].milliseconds).median});
  };
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (samples[i].milliseconds.empty()) return;  // stopped
    add(i);
  }
  if (vendor) add(*vendor);
  options_.say("energy");
  const auto joules =
      joules_a_call(timer_, [&] { return nvml_ ? nvml_->joules() : std::nullopt; }, running,
                    {.seed = order_seed_of(options_.measure.seed, problem_, Mode::kSustained),
                     .stop = options_.stop});
  const double tflop = tflop_of(problem_);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!joules[i]) continue;
    Record& record = records[i].second;
    record.energy = EnergyUse{*joules[i] / tflop, {}};
    if (vendor && joules.back()) record.energy->vendor_joules_per_tflop = *joules.back() / tflop;
  }
}

void TimedBench::add_companions(Records& records) const {
  const auto record_of = [&](const BenchRow& row) -> Record* {
    for (auto& [timed, record] : records) {
      if (timed == &row) return &record;
    }
    return nullptr;
  };
  for (const BenchRow& row : rows_) {
    if (!row.candidate->companion_of) continue;
    Record* const told = record_of(rows_.at(*row.candidate->companion_of));
    if (!told) continue;
    const Record* const timed = record_of(row);
    Companion companion = companion_of(timed ? *timed : row.record);
    if (!row.candidate->rewriting.empty()) {
      add_gain(*told, row, companion);
      told->rewritten.push_back(companion);
      continue;
    }
    if (!row.candidate->other_build) {
      told->within_vendor_workspace = companion;
      continue;
    }
    told->other_image = companion;
    if (companion.time_ms && told->time_ms) {
      told->ratio_to_other = *companion.time_ms / told->time_ms->median;
    }
  }
}

}  // namespace tessera::lab
