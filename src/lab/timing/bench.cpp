#include "lab/timing/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "arch/gpus.h"
#include "lab/counts/count_tag.h"
#include "lab/data/operand_sets.h"
#include "lab/explain/explain.h"
#include "lab/model/predict.h"
#include "lab/timing/energy.h"
#include "lab/verify/prepared_call.h"

namespace tessera::lab {
namespace {

// One kernel on its way through a bench.
struct Row {
  const KernelChoice* choice;
  Record record;
  bool timed = false;  // right, and on a device with a clock
};

Record new_record(const KernelChoice& choice, const Problem& problem, const Device& device) {
  Record record;
  record.kernel = choice.kernel->name;
  record.config = choice.variant;
  record.idea = choice.kernel->idea;
  record.problem = problem;
  record.device = device.info().name;
  return record;
}

// The run behind a verification, for what its counts say; launches by their entries alone.
CountedRun run_of(const KernelChoice& choice, const Problem& problem, const VerifyResult& result) {
  CountedRun run{problem, choice.kernel, result.row, {}, {}};
  for (const std::string& entry : result.entries) run.launches.push_back({.entry = entry});
  if (run.launches.size() == result.counts.size()) run.counts = result.counts;
  return run;
}

// Nothing where memory was not counted, or where nothing is known.
std::optional<PredictedTime> predicted_time(const CountedRun& run, const arch::Gpu* gpu) {
  if (!gpu || run.counts.empty() || !run.counts.back().memory.counted) return std::nullopt;
  const std::optional<Prediction> known = predict_if_known(run, *gpu);
  if (!known) return std::nullopt;
  return PredictedTime{known->gpu, known->time_ms, known->bound, known->model};
}

void add_counts(Record& record, const VerifyResult& result, const KernelChoice& choice,
                const arch::Gpu* predict_for) {
  if (result.counts.empty()) return;
  record.counts = summarize(result.counts);
  set_tag(*record.counts, image_of(*choice.kernel), result.entries);
  const CountedRun run = run_of(choice, record.problem, result);
  record.limited_by = limited_by(run, predict_for ? *predict_for : arch::kH200);
  record.predicted = predicted_time(run, predict_for);
  record.host_seconds = result.host_seconds;
  if (result.host_seconds > 0) {
    record.lane_instructions_per_s = record.counts->total.thread / result.host_seconds;
  }
}

bool stopped(const BenchOptions& options) { return options.stop && options.stop(); }

void say(const BenchOptions& options, const std::string& words) {
  if (options.progress) options.progress(words);
}

// The record of one kernel, from the device or, where that cannot load its image, the fallback.
Record check_somewhere(Device& device, Device* fallback, const KernelChoice& choice,
                       const VerifyCase& data) {
  try {
    return verify_record(device, choice, data);
  } catch (const StatusError& error) {
    if (!fallback || error.status().code != StatusCode::kUnavailable) throw;
    Record record = verify_record(*fallback, choice, data);
    if (record.reason.empty()) record.reason = error.what();
    return record;
  }
}

std::vector<Row> check_all(Device& device, const std::vector<KernelChoice>& kernels,
                           const Problem& problem, const BenchOptions& options) {
  const bool has_clock = device.info().kind == DeviceKind::kCuda;
  std::vector<Row> rows;
  if (has_clock && !options.check_results) {
    for (const KernelChoice& choice : kernels) {
      rows.push_back({&choice, new_record(choice, problem, device), true});
    }
    return rows;
  }
  say(options, "reference");
  VerifyOptions verify = options.verify;
  verify.stop = options.stop;
  const VerifyCase data(problem, verify);
  for (const KernelChoice& choice : kernels) {
    if (stopped(options)) break;
    say(options, "verify " + choice.kernel->name);
    Row row{&choice, {}};
    try {
      row.record = check_somewhere(device, options.fallback, choice, data);
    } catch (const Stopped&) {
      break;  // the kernels before this one are kept
    }
    const bool right = row.record.verified && *row.record.verified != name_of(Verified::kFailed);
    row.timed = has_clock && right && row.record.device == device.info().name;
    rows.push_back(std::move(row));
  }
  return rows;
}

Candidate candidate_of(const VendorCall& call, const OperandSets& sets) {
  return {call.name, [&call, &sets](std::int64_t i) { call.call(sets[i]); }};
}

// Whether the library takes this problem at all: one call, waited for.
bool runs(Device& device, const VendorCall& call, const OperandSets& sets) {
  try {
    call.call(sets[0]);
    device.synchronize();
    return true;
  } catch (const StatusError&) {
    return false;
  }
}

// cuBLAS' default and the fastest cuBLASLt candidate, chosen in short bursts: the two are timed
// again in turn with the kernels.
std::vector<VendorCall> choose_vendor_calls(Device& device, Timer& timer, const Problem& problem,
                                            const OperandSets& sets, const BenchOptions& options) {
  if (!options.vendor) return {};
  say(options, "choosing the vendor's candidate");
  std::vector<VendorCall> calls = options.vendor->calls(problem);
  std::erase_if(calls, [&](const VendorCall& call) { return !runs(device, call, sets); });
  if (calls.size() <= 2) return calls;
  std::vector<Candidate> candidates;
  for (std::size_t i = 1; i < calls.size(); ++i) candidates.push_back(candidate_of(calls[i], sets));
  MeasureOptions quick = options.measure;
  quick.rounds = 1;
  quick.idle_ms /= 5;
  quick.burst_ms /= 5;
  quick.stop = options.stop;
  quick.progress = nullptr;
  quick.on_busy = nullptr;
  const std::vector<Samples> samples = measure(timer, candidates, Mode::kBurst, quick);
  std::size_t best = 0;
  double best_ms = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].milliseconds.empty()) continue;
    const double ms = summarize(samples[i].milliseconds).median;
    if (best_ms == 0 || ms < best_ms) {
      best = i;
      best_ms = ms;
    }
  }
  return {calls[0], calls[best + 1]};
}

double tflop_of(const Problem& p) {
  return 2e-12 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

// Which of the vendor's calls, from number `first` on, was the fastest; nullopt without one.
std::optional<std::size_t> best_vendor(const std::vector<Samples>& samples, std::size_t first) {
  std::optional<std::size_t> best;
  double best_ms = 0;
  for (std::size_t i = first; i < samples.size(); ++i) {
    if (samples[i].milliseconds.empty()) continue;
    const double ms = summarize(samples[i].milliseconds).median;
    if (best && best_ms <= ms) continue;
    best = i;
    best_ms = ms;
  }
  return best;
}

void add_time(Record& record, Mode mode, const Samples& samples, bool keep_samples,
              const std::optional<VendorTime>& vendor) {
  if (samples.milliseconds.empty()) return;
  record.mode = mode;
  record.time_ms = summarize(samples.milliseconds);
  record.calls_per_sample = samples.calls_per_sample;
  if (keep_samples) record.samples_ms = samples.milliseconds;
  record.tflops = tflop_of(record.problem) / (record.time_ms->median * 1e-3);
  record.vendor = vendor;
  if (vendor) record.ratio_to_vendor = vendor->time_ms.median / record.time_ms->median;
}

// Times all rows and the vendor's calls in turn, once a mode.
class TimedBench {
 public:
  TimedBench(Device& device, const Problem& problem, std::vector<Row>& rows,
             const BenchOptions& options)
      : options_(options),
        rows_(rows),
        timer_(device),
        sets_(device, problem, {options.verify.fill, options.verify.seed}),
        nvml_(Nvml::load()) {
    for (Row& row : rows_) bind(device, problem, row);
    vendor_calls_ = choose_vendor_calls(device, timer_, problem, sets_, options_);
    for (const VendorCall& call : vendor_calls_) candidates_.push_back(candidate_of(call, sets_));
  }

  // The timed rows' records in this mode, in the order of the rows.
  std::vector<Record> run(Mode mode) {
    std::map<std::size_t, Telemetry> telemetry;
    MeasureOptions how = options_.measure;
    how.stop = options_.stop;
    how.progress = [&](int done, int groups) {
      say(options_, fmt::format("{} {}/{}", name_of(mode), done, groups));
    };
    how.on_busy = [&](std::size_t i) {
      const auto now = nvml_ ? nvml_->read() : std::nullopt;
      if (now) telemetry[i] = *now;
    };
    const std::vector<Samples> samples = measure(timer_, candidates_, mode, how);
    const std::optional<std::size_t> best = best_vendor(samples, bound_.size());
    std::optional<VendorTime> vendor;
    if (best) {
      vendor = VendorTime{fmt::format("{} ({})", samples[*best].name, options_.vendor->version()),
                          summarize(samples[*best].milliseconds)};
    }
    std::vector<Record> records;
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      Record record = timed_rows_[i]->record;
      add_time(record, mode, samples[i], options_.keep_samples, vendor);
      if (telemetry.count(i)) record.telemetry = telemetry[i];
      records.push_back(std::move(record));
    }
    if (options_.energy && mode == Mode::kSustained) add_energy(records, samples, best);
    return records;
  }

 private:
  // Runs every kernel and the vendor's fastest call for seconds each.
  void add_energy(std::vector<Record>& records, const std::vector<Samples>& samples,
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
    say(options_, "energy");
    const auto joules =
        joules_a_call(timer_, [&] { return nvml_ ? nvml_->joules() : std::nullopt; }, running,
                      {.seed = options_.measure.seed, .stop = options_.stop});
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!joules[i]) continue;
      const double tflop = tflop_of(records[i].problem);
      records[i].energy = EnergyUse{*joules[i] / tflop, {}};
      if (vendor && joules.back()) {
        records[i].energy->vendor_joules_per_tflop = *joules.back() / tflop;
      }
    }
  }

  void bind(Device& device, const Problem& problem, Row& row) {
    if (!row.timed) return;
    try {
      bound_.push_back(std::make_unique<PreparedCall>(
          device, *row.choice, problem, gemm::alignment_of(sets_[0]), options_.verify.plan));
    } catch (const StatusError& error) {
      row.timed = false;
      row.record.reason = error.what();
      return;
    }
    const PreparedCall& bound = *bound_.back();
    row.record.image = bound.code();
    row.record.host_us = bound.host_time(device, sets_);
    timed_rows_.push_back(&row);
    candidates_.push_back(
        {row.record.kernel, [this, &bound](std::int64_t i) { bound.run(sets_[i]); }});
  }

  const BenchOptions& options_;
  std::vector<Row>& rows_;
  DeviceTimer timer_;
  OperandSets sets_;
  std::unique_ptr<Nvml> nvml_;
  std::vector<std::unique_ptr<PreparedCall>> bound_;
  std::vector<Row*> timed_rows_;
  std::vector<VendorCall> vendor_calls_;
  std::vector<Candidate> candidates_;  // the bound kernels, then the vendor's calls
};

}  // namespace

std::string verified_by_proof(const Kernel& kernel) {
  if (!kernel.is_patched()) return "";
  return fmt::format(
      "as {} (PTX); {}", kernel.patched_from.substr(0, kernel.patched_from.find('_')),
      image_of(kernel).patched.bytes.empty() ? "cubin not patched" : "cubin proved equal");
}

Record verify_record(Device& device, const KernelChoice& choice, const VerifyCase& data) {
  Record record = new_record(choice, data.problem(), device);
  if (device.info().kind == DeviceKind::kVirtual && choice.kernel->is_patched()) {
    record.verified = verified_by_proof(*choice.kernel);
    return record;
  }
  record.fill = name_of(data.options().fill);
  try {
    const VerifyResult result = data.check(device, choice);
    record.image = result.image;
    record.verified = std::string(name_of(result.verified));
    record.max_error_ratio = result.max_error_ratio;
    record.reason = result.reason;
    record.findings = result.findings;
    record.integers = result.integers;
    record.reference = result.reference;
    add_counts(record, result, choice, data.options().predict_for);
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::kUnsupported) throw;
    record.reason = error.what();
  }
  return record;
}

std::vector<Record> bench(Device& device, const std::vector<KernelChoice>& kernels,
                          const Problem& given, const BenchOptions& options) {
  const Problem problem = with_default_ld(given);
  require(check(problem));
  const bool has_clock = device.info().kind == DeviceKind::kCuda;
  if (has_clock && options.verify.fill == Fill::kZeros) {
    throw StatusError(Status::bad_argument(
        "--fill is 'zeros', but zeros are never timed: they cost less power than data"));
  }
  std::vector<Row> rows = check_all(device, kernels, problem, options);
  const bool any_timed =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.timed; });
  std::vector<Record> records;
  if (any_timed && problem.m != 0 && problem.n != 0) {
    TimedBench timed(device, problem, rows, options);
    for (Mode mode : options.modes) {
      if (stopped(options)) break;
      for (Record& record : timed.run(mode)) records.push_back(std::move(record));
    }
  }
  for (Row& row : rows) {
    const bool there = std::any_of(records.begin(), records.end(), [&](const Record& record) {
      return record.kernel == row.record.kernel && record.config == row.record.config;
    });
    if (!there) records.push_back(std::move(row.record));
  }
  return records;
}

}  // namespace tessera::lab
