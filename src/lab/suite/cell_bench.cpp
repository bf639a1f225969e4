#include "lab/suite/cell_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lab/data/fill.h"
#include "lab/suite/check.h"
#include "lab/timing/vendor_choice.h"
#include "lab/verify/stop.h"

namespace tessera::lab {
namespace {

// Whether a plan failed because of the problem, not because of the device.
bool is_of_the_cell(const StatusError& error) {
  return error.status().code == StatusCode::kUnsupported ||
         error.status().code == StatusCode::kBadArgument ||
         dynamic_cast<const OutOfMemory*>(&error) != nullptr;
}

bool are_the_same(const gemm::Candidate& x, const gemm::Candidate& y) {
  return x.kernel == y.kernel && x.row == y.row && x.decision_text() == y.decision_text();
}

}  // namespace

SuiteProtocol quick_protocol() {
  SuiteProtocol quick{.name = "quick", .choice = {}, .timing = {}, .idle_above_ms = 0.1};
  quick.timing = {.rounds = 2,
                  .idle_ms = 100,
                  .warm_ups = 2,
                  .min_calls = 5,
                  .max_calls = 50,
                  .burst_ms = 10,
                  .max_samples = 50};
  quick.choice = {.rounds = 1,
                  .idle_ms = 0,
                  .warm_ups = 0,
                  .min_calls = 3,
                  .max_calls = 3,
                  .burst_ms = 0,
                  .max_samples = 3};
  return quick;
}

SuiteProtocol sweep_protocol() {
  SuiteProtocol sweep = quick_protocol();
  sweep.name = "sweep";
  sweep.timing.idle_ms = 0;
  sweep.timing.warm_ups = 1;
  sweep.timing.min_calls = sweep.timing.max_calls = 4;
  return sweep;
}

SuiteProtocol two_plans_protocol() {
  SuiteProtocol protocol = quick_protocol();
  protocol.name = "two plans";
  protocol.timing.rounds = 5;
  return protocol;
}

SuiteProtocol full_protocol() {
  SuiteProtocol full{.name = "full", .choice = {}, .timing = {}, .idle_above_ms = 0.1};
  full.choice.rounds = 1;
  full.choice.idle_ms /= 5;
  full.choice.burst_ms /= 5;
  return full;
}

std::optional<double> CellTime::ratio() const {
  if (!vendor) return std::nullopt;
  return vendor->median / ours.median;
}

CellBench::CellBench(Device& device, Timer& timer, Vendor* vendor, CellBenchOptions options)
    : device_(device),
      timer_(timer),
      vendor_(vendor),
      options_(std::move(options)),
      memory_(device, options_.seed) {}

gemm::PlanOptions CellBench::within(std::int64_t bytes) const {
  gemm::PlanOptions options = options_.plan;
  options.workspace_limit = bytes;
  return options;
}

std::unique_ptr<PlannedCall> CellBench::without_limit(const Problem& problem,
                                                      const Operands& operands,
                                                      const PlannedCall& limited) const {
  const gemm::PlanOptions any = within(gemm::kAnyWorkspace);
  const gemm::Plan plan =
      gemm::plan(problem, gemm::alignment_of(operands), gemm::limits_of(device_.info()), any);
  const gemm::Candidate &best = plan.offers.front(), &other = limited.plan().offers.front();
  if (are_the_same(best, other)) return nullptr;
  return std::make_unique<PlannedCall>(device_, problem, operands, any);
}

std::string CellBench::check(const DrawnCell& cell, const CellOperands& operands,
                             const PlannedCall& call, double& max_error_ratio) {
  const SampleCheck found =
      check_samples(device_, cell, operands, [&](const Operands& set) { call.run(set); });
  max_error_ratio = std::max(max_error_ratio, found.max_error_ratio);
  return found.ok ? "" : fmt::format("{}: {}", name_of(call.plan().offers.front()), found.reason);
}

// WHY: if the library does not support the epilogue, it is timed with the product alone, which is
// an advantage for the library.
std::vector<VendorCall> CellBench::vendor_calls(const Problem& problem, const OperandsOf& operands,
                                                const MeasureOptions& how,
                                                std::string& note) const {
  if (!vendor_) return {};
  const auto chosen = [&](const Problem& p) {
    return choose_vendor_calls(device_, timer_, vendor_->calls(p), operands, how);
  };
  std::vector<VendorCall> calls = chosen(problem);
  if (!calls.empty() || problem.epilogue.is_identity()) return calls;
  Problem product = problem;
  product.epilogue = {};
  note = ", without the epilogue";
  return chosen(product);
}

double CellBench::one_call_ms(const CellOperands& operands, const PlannedCall& call) {
  const std::uint64_t begin = timer_.mark();
  call.run(operands[1]);
  const std::uint64_t end = timer_.mark();
  timer_.synchronize();
  return timer_.milliseconds_between(begin, end);
}

CellBench::Turn CellBench::time(const DrawnCell& cell, const CellOperands& operands,
                                const Calls& calls, const SuiteProtocol& protocol) {
  const OperandsOf of = [&](std::int64_t i) -> const Operands& { return operands[i]; };
  MeasureOptions how = protocol.timing, choice = protocol.choice;
  how.seed = mix_bits(options_.seed + static_cast<std::uint64_t>(cell.number));
  how.stop = options_.stop;
  if (one_call_ms(operands, *calls.front()) <= protocol.idle_above_ms) {
    how.idle_ms = choice.idle_ms = 0;
  }
  Turn out;
  const std::vector<VendorCall> theirs = vendor_calls(cell.problem, of, choice, out.vendor_name);
  std::vector<Candidate> candidates;
  for (const PlannedCall* const call : calls) {
    candidates.push_back({"ours", [call, &operands](std::int64_t i) { call->run(operands[i]); }});
  }
  for (const VendorCall& call : theirs) candidates.push_back(candidate_of(call, of));
  const std::vector<Samples> samples = measure(timer_, candidates, Mode::kBurst, how);
  for (const Samples& each : samples) {
    if (each.rounds < how.rounds) throw Stopped();
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    out.ours.push_back(summarize(samples[i].milliseconds));
  }
  if (const std::optional<std::size_t> best = fastest(samples, calls.size())) {
    out.vendor = summarize(samples[*best].milliseconds);
    out.vendor_name = samples[*best].name + out.vendor_name;
  }
  return out;
}

CellResult CellBench::run(const DrawnCell& cell, const SuiteProtocol& protocol) {
  CellResult out;
  try {
    const CellOperands operands = memory_.operands(cell);
    const PlannedCall limited(device_, cell.problem, operands[0], within(options_.workspace_limit));
    const std::unique_ptr<PlannedCall> unlimited =
        without_limit(cell.problem, operands[0], limited);
    const gemm::Candidate& offer = limited.plan().offers.front();
    out.kernel = name_of(offer);
    out.workspace_bytes = offer.workspace_bytes();
    out.predicted_us = offer.cost.total();
    Calls calls{&limited};
    if (unlimited) {
      out.kernel_without_limit = name_of(unlimited->plan().offers.front());
      out.workspace_without_limit = unlimited->plan().workspace_bytes();
      calls.push_back(unlimited.get());
    }
    for (const PlannedCall* const call : calls) {
      if (out.reason.empty()) out.reason = check(cell, operands, *call, out.max_error_ratio);
    }
    if (!out.reason.empty()) return out;
    const Turn turn = time(cell, operands, calls, protocol);
    out.time = {turn.ours[0], {}, turn.vendor, turn.vendor_name};
    if (unlimited) out.time.without_limit = turn.ours[1];
  } catch (const StatusError& error) {
    if (!is_of_the_cell(error)) throw;
    out.reason = error.what();
  }
  return out;
}

std::vector<std::unique_ptr<PlannedCall>> CellBench::bind_configs(const DrawnCell& cell,
                                                                  const CellOperands& operands,
                                                                  double within_best,
                                                                  SweptCell& out) {
  const gemm::Plan plan =
      gemm::plan(cell.problem, gemm::alignment_of(operands[0]), gemm::limits_of(device_.info()),
                 within(options_.workspace_limit));
  const double longest = within_best * plan.offers.front().cost.total();
  std::vector<std::unique_ptr<PlannedCall>> calls;
  for (const gemm::Candidate& offer : plan.offers) {
    const std::string name = name_of(offer);
    const auto is_known = [&](const SweptConfig& known) { return known.kernel == name; };
    if (offer.cost.total() > longest || std::ranges::any_of(out.configs, is_known)) continue;
    out.configs.push_back({.kernel = name,
                           .decision = offer.decision_text(),
                           .workspace_bytes = offer.workspace_bytes(),
                           .expected = offer.cost,
                           .reason = {},
                           .ms = {}});
    calls.push_back(nullptr);
    try {
      gemm::PlanOptions options = within(options_.workspace_limit);
      options.kernel = choose_kernels(offer.name()).front();
      calls.back() = std::make_unique<PlannedCall>(device_, cell.problem, operands[0], options);
      double max_error_ratio = 0;
      out.configs.back().reason = check(cell, operands, *calls.back(), max_error_ratio);
      if (!out.configs.back().reason.empty()) calls.back().reset();
    } catch (const StatusError& error) {
      if (!is_of_the_cell(error)) throw;
      out.configs.back().reason = error.what();
    }
  }
  return calls;
}

SweptCell CellBench::sweep(const DrawnCell& cell, double within_best) {
  SweptCell out;
  try {
    const CellOperands operands = memory_.operands(cell);
    const auto bound = bind_configs(cell, operands, within_best, out);
    Calls calls;
    for (const auto& call : bound) {
      if (call) calls.push_back(call.get());
    }
    if (calls.empty()) return out;
    const Turn turn = time(cell, operands, calls, sweep_protocol());
    out.vendor = turn.vendor;
    out.vendor_name = turn.vendor_name;
    auto next = turn.ours.begin();
    for (std::size_t i = 0; i < bound.size(); ++i) {
      if (bound[i]) out.configs[i].ms = *next++;
    }
  } catch (const StatusError& error) {
    if (!is_of_the_cell(error)) throw;
    out.reason = error.what();
  }
  return out;
}

TwoPlans CellBench::compare(const DrawnCell& cell, const gemm::CostTable& other) {
  const gemm::DeviceLimits own = gemm::limits_of(device_.info());
  gemm::DeviceLimits others = own;
  others.costs = &other;
  return compare_plans(cell, {cell.problem, own}, {cell.problem, others});
}

TwoPlans CellBench::compare(const DrawnCell& cell, ComputeType compute) {
  const gemm::DeviceLimits limits = gemm::limits_of(device_.info());
  Way as_asked{cell.problem, limits};
  as_asked.problem.types.compute = compute;
  return compare_plans(cell, as_asked, {cell.problem, limits});
}

TwoPlans CellBench::compare_plans(const DrawnCell& cell, const Way& own, const Way& other) {
  TwoPlans out;
  try {
    const CellOperands operands = memory_.operands(cell);
    const auto planned = [&](const Way& way) {
      return gemm::plan(way.problem, gemm::alignment_of(operands[0]), way.limits,
                        within(options_.workspace_limit));
    };
    const gemm::Plan by_own = planned(own), by_other = planned(other);
    const gemm::Candidate &x = by_own.offers.front(), &y = by_other.offers.front();
    const auto row = [](const gemm::Candidate& offer) {
      return TwoPlans::Planned{name_of(offer), offer.decision_text(), offer.workspace_bytes(), {}};
    };
    out.own = row(x);
    if (are_the_same(x, y)) return out;
    out.other = row(y);
    const PlannedCall first(device_, own.problem, by_own);
    const PlannedCall second(device_, other.problem, by_other);
    DrawnCell as_own = cell;  // WHY: its errors may be larger in another compute type
    as_own.problem = own.problem;
    double max_error_ratio = 0;
    out.reason = check(as_own, operands, first, max_error_ratio);
    if (out.reason.empty()) out.reason = check(cell, operands, second, max_error_ratio);
    if (!out.reason.empty()) return out;
    const Turn turn = time(cell, operands, {&first, &second}, two_plans_protocol());
    out.own.ms = turn.ours[0];
    out.other->ms = turn.ours[1];
  } catch (const StatusError& error) {
    if (!is_of_the_cell(error)) throw;
    out.reason = error.what();
  }
  return out;
}

}  // namespace tessera::lab
