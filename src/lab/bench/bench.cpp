#include "lab/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/gpus.h"
#include "lab/bench/timed_bench.h"
#include "lab/counts/count_tag.h"
#include "lab/explain/explain.h"
#include "lab/model/predict.h"

namespace tessera::lab {
namespace {

Record new_record(const BenchCandidate& candidate, const Problem& problem,
                  const gemm::PackedOperands& packed, const Device& device) {
  Record record;
  record.kernel = candidate.choice.kernel->name;
  record.config = candidate.choice.variant;
  record.idea = candidate.choice.kernel->idea;
  record.other_build = candidate.other_build;
  record.rewriting = candidate.rewriting;
  record.reason = candidate.unavailable;
  if (candidate.workspace_limit != gemm::kAnyWorkspace) {
    record.workspace_limit = candidate.workspace_limit;
  }
  record.packed = packed.text();
  record.problem = problem;
  record.device = device.info().name;
  return record;
}

// Converts a verification's result to a counted run, for functions that read counts. Each launch of
// the counted run has only the name of its entry.
CountedRun run_of(const KernelChoice& choice, const Problem& problem, const VerifyResult& result) {
  CountedRun run{problem, choice.kernel, result.row, {}, {}};
  for (const std::string& entry : result.entries) run.launches.push_back({.entry = entry});
  if (run.launches.size() == result.counts.size()) run.counts = result.counts;
  return run;
}

// Returns nullopt if memory was not counted, or if the time cannot be predicted.
std::optional<PredictedTime> predicted_time(const CountedRun& run, const arch::Gpu* gpu) {
  if (!gpu || run.counts.empty() || !run.counts.back().memory.counted) return std::nullopt;
  const std::optional<Prediction> known = predict_if_known(run, *gpu);
  if (!known) return std::nullopt;
  return PredictedTime{known->gpu, known->time_ms, known->bound, known->model};
}

void add_counts(Record& record, const VerifyResult& result, const KernelChoice& choice,
                const arch::Gpu* predict_for) {
  if (result.counts.empty()) return;
  record.counts = summarize(result.counts, record.problem);
  set_tag(*record.counts, *choice.kernel, result.entries);
  const CountedRun run = run_of(choice, record.problem, result);
  record.limited_by = limited_by(run, predict_for ? *predict_for : arch::kH200);
  record.predicted = predicted_time(run, predict_for);
  record.host_seconds = result.host_seconds;
  if (result.host_seconds > 0) {
    record.lane_instructions_per_s = record.counts->total.thread / result.host_seconds;
  }
}

bool stopped(const BenchOptions& options) { return options.stop && options.stop(); }

// Returns the record of one kernel on `device` or, if `device` cannot load the kernel's image, on
// `fallback`.
Record check_somewhere(Device& device, Device* fallback, const BenchCandidate& candidate,
                       const VerifyCase& data) {
  try {
    return verify_record(device, candidate, data);
  } catch (const StatusError& error) {
    if (!fallback || error.status().code != StatusCode::kUnavailable) throw;
    Record record = verify_record(*fallback, candidate, data);
    if (record.reason.empty()) record.reason = error.what();
    return record;
  }
}

// One bench: a row per candidate, and the records that are already complete.
class Bench {
 public:
  Bench(Device& device, const std::vector<BenchCandidate>& candidates, const Problem& problem,
        const BenchOptions& options)
      : device_(device),
        candidates_(candidates),
        problem_(problem),
        options_(options),
        has_clock_(device.info().kind == DeviceKind::kCuda) {}

  std::vector<Record> run() {
    if (has_clock_ && !options_.check_results) {
      for (const BenchCandidate& one : candidates_) {
        rows_.push_back({&one, new_record(one, problem_, options_.verify.plan.packed, device_),
                         one.unavailable.empty()});
      }
    } else {
      check_all();
    }
    time_all();
    for (BenchRow& row : rows_) {
      if (!row.is_told) tell(row, row.record);
    }
    return std::move(records_);
  }

 private:
  void tell(BenchRow& row, const Record& record) {
    row.is_told = true;
    records_.push_back(record);
    if (options_.on_record) options_.on_record(record);
  }

  void check_all() {
    options_.say("reference");
    VerifyOptions verify = options_.verify;
    verify.stop = options_.stop;
    verify.hashes = std::ranges::any_of(candidates_, [](const BenchCandidate& one) {
      return one.other_build || !one.rewriting.empty();
    });
    const VerifyCase data(problem_, verify);
    for (const BenchCandidate& one : candidates_) {
      if (stopped(options_)) break;
      options_.say("verify " + one.choice.kernel->name);
      BenchRow row{&one, {}};
      try {
        row.record = check_somewhere(device_, options_.fallback, one, data);
      } catch (const Stopped&) {
        break;  // the kernels before this one are kept
      }
      if (!one.rewriting.empty() && one.companion_of)
        require_same_bits(row.record, *one.companion_of);
      const bool right = row.record.verified && *row.record.verified != name_of(Verified::kFailed);
      row.is_timed = has_clock_ && right && row.record.device == device_.info().name;
      rows_.push_back(std::move(row));
      if (!rows_.back().is_timed) tell(rows_.back(), rows_.back().record);
    }
  }

  // Marks a rewritten kernel's record as failed unless D has the same bits as D of the candidate
  // `original`, whose code was rewritten: the rewriting is proved not to change any bit.
  void require_same_bits(Record& record, std::size_t original) const {
    const std::string& expected = rows_.at(original).record.d_hash;
    if (record.d_hash.empty() || expected.empty() || record.d_hash == expected) return;
    record.verified = name_of(Verified::kFailed);
    record.reason = "D has other bits than before its code was rewritten";
  }

  void time_all() {
    const bool any =
        std::any_of(rows_.begin(), rows_.end(), [](const BenchRow& row) { return row.is_timed; });
    if (!any || problem_.m == 0 || problem_.n == 0) return;
    TimedBench timed(device_, problem_, rows_, options_);
    for (const Mode mode : options_.modes) {
      if (stopped(options_)) break;
      for (const auto& [row, record] : timed.run(mode)) tell(*row, record);
    }
  }

  Device& device_;
  const std::vector<BenchCandidate>& candidates_;
  const Problem& problem_;
  const BenchOptions& options_;
  const bool has_clock_;
  std::vector<BenchRow> rows_;  // the candidates', in their order
  std::vector<Record> records_;
};

bool is_rewritten(const BenchCandidate& candidate) { return candidate.by_model.has_value(); }

}  // namespace

std::string verified_by_proof(const Kernel& kernel) {
  if (!kernel.is_patched()) return "";
  return fmt::format(
      "as {} (PTX); {}", kernel.patched_from.substr(0, kernel.patched_from.find('_')),
      image_of(kernel, kernel.rows.front().entry).patched.bytes.empty() ? "cubin not patched"
                                                                        : "cubin proved equal");
}

Record verify_record(Device& device, const KernelChoice& kernel, const VerifyCase& data) {
  return verify_record(device, {kernel, data.options().plan.workspace_limit}, data);
}

Record verify_record(Device& device, const BenchCandidate& candidate, const VerifyCase& data) {
  const KernelChoice& choice = candidate.choice;
  Record record = new_record(candidate, data.problem(), data.options().plan.packed, device);
  if (!record.reason.empty()) return record;
  if (device.info().kind == DeviceKind::kVirtual && choice.kernel->is_patched()) {
    record.verified = verified_by_proof(*choice.kernel);
    return record;
  }
  if (device.info().kind == DeviceKind::kVirtual && is_rewritten(candidate)) {
    record.reason = "proved, not run: the virtual GPU runs PTX";
    return record;
  }
  record.fill = name_of(data.options().fill);
  try {
    gemm::PlanOptions plan = data.options().plan;
    plan.workspace_limit = candidate.workspace_limit;
    const VerifyResult result = data.check(device, choice, plan);
    set_code(record, result.image, result.plan, result.workspace_bytes);
    if (is_rewritten(candidate) && !result.image.is_patched) {
      record.reason = "proved, not run: the GPU has not taken the rewritten code";
      return record;
    }
    record.d_hash = result.d_hash;
    record.verified = std::string(name_of(result.verified));
    record.max_error_ratio = result.max_error_ratio;
    record.reason = result.reason;
    record.findings = result.findings;
    record.integers = result.integers;
    record.reference = result.reference;
    add_counts(record, result, choice, data.options().predict_for);
  } catch (const StatusError& error) {
    // WHY: this build's plan may launch an entry that the other build lacks, and possibly no plan
    // fits into the workspace limit.
    const bool may_lack = candidate.other_build || record.workspace_limit;
    const bool expected = may_lack && error.status().code == StatusCode::kBadArgument;
    if (error.status().code != StatusCode::kUnsupported && !expected) throw;
    record.reason = error.what();
  }
  return record;
}

std::vector<Record> bench(Device& device, const std::vector<BenchCandidate>& candidates,
                          const Problem& given, const BenchOptions& options) {
  const Problem problem = with_default_ld(given);
  require(check(problem));
  const bool has_clock = device.info().kind == DeviceKind::kCuda;
  if (has_clock && options.verify.fill == Fill::kZeros) {
    throw StatusError(Status::bad_argument(
        "fill is 'zeros', but zeros are never timed: they cost less power than data"));
  }
  return Bench(device, candidates, problem, options).run();
}

}  // namespace tessera::lab
