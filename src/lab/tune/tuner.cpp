#include "lab/tune/tuner.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "gemm/overlay/overlay_file.h"
#include "gemm/plan/plan.h"
#include "lab/suite/cell_bench.h"
#include "lab/suite/check.h"
#include "lab/verify/stop.h"

namespace tessera::lab {
namespace {

constexpr double kNearTheFastest = 1.05;
// A plan is stored only if its time is at most this factor times that of the model's choice. WHY:
// medians scatter by 1 %.
constexpr double kWorthChanging = 0.99;

// Whether a call failed because of its own properties, not because of the device.
bool is_of_the_call(const StatusError& error) {
  return error.status().code == StatusCode::kUnsupported ||
         error.status().code == StatusCode::kBadArgument ||
         dynamic_cast<const OutOfMemory*>(&error) != nullptr;
}

// Returns the problem as SuiteMemory can provide it: C and D are one matrix, A and B have one type,
// and the bias has that type.
Problem measured_problem(Problem p) {
  p.ldc = p.ldd;
  if (p.batch.kind == BatchKind::kStrided) p.batch.stride_c = p.batch.stride_d;
  const Epilogue& e = p.epilogue;
  if (p.types.a != p.types.b || e.scale != VectorKind::kNone ||
      (e.bias != VectorKind::kNone && bias_type(p.types) != p.types.a)) {
    throw StatusError(Status::unsupported(
        "type is " + name_of(p.types) + " with the epilogue " + name_of(e) +
        ", but calls are tuned whose operands and vectors are of one type, without a scale"));
  }
  return p;
}

double fastest(const TunedCall& call) {
  double least = 0;
  for (const MeasuredPlan& plan : call.plans) {
    if (plan.ms.n > 0 && (least == 0 || plan.ms.median < least)) least = plan.ms.median;
  }
  return least;
}

void choose(TunedCall& call) {
  for (std::size_t i = 0; i < call.plans.size(); ++i) {
    const MeasuredPlan &one = call.plans[i], &best = call.plans[call.best];
    if (one.is_final && (!best.is_final || one.ms.median < best.ms.median)) call.best = i;
  }
  const MeasuredPlan &by_model = call.plans.front(), &best = call.plans[call.best];
  if (by_model.is_final && best.ms.median > kWorthChanging * by_model.ms.median) call.best = 0;
}

}  // namespace

gemm::OverlayEntry TunedCall::entry() const {
  const MeasuredPlan& by_model = plans.front();
  const double us = plans[best].ms.median * 1e3;
  return {plans[best].plan, us, by_model.is_final ? by_model.ms.median * 1e3 : us};
}

Tuner::Tuner(Device& device, Timer& timer, TuneOptions options)
    : device_(device),
      timer_(timer),
      options_(std::move(options)),
      memory_(device, options_.seed) {}

std::vector<Tuner::Bound> Tuner::bind(const gemm::CallToPlan& call, const DrawnCell& cell,
                                      const CellOperands& operands, TunedCall& out) {
  const gemm::DeviceLimits limits = gemm::limits_of(device_.info());
  const gemm::PlanOptions options{.workspace_limit = call.workspace_limit};
  const gemm::Plan all = gemm::plan(cell.problem, call.alignment, limits, options);
  if (all.offers.front().is_in_parts) {
    throw StatusError(Status::unsupported(
        "the call is planned in parts, each with a plan of its own, which have no one name"));
  }
  const double longest = options_.within * all.offers.front().cost.total();
  std::set<std::string> seen;
  std::vector<Bound> bound;
  for (const gemm::Candidate& offer : all.offers) {
    if (offer.cost.total() > longest || !seen.insert(offer.name()).second) continue;
    MeasuredPlan& row = out.plans.emplace_back();
    row.plan = offer.name();
    row.decision = offer.decision_text();
    row.expected_us = offer.cost.total();
    try {
      gemm::PlanOptions named = options;
      named.kernel = choose_kernels(row.plan).front();
      auto one = std::make_unique<PlannedCall>(
          device_, cell.problem, gemm::plan(cell.problem, call.alignment, limits, named));
      const SampleCheck found =
          check_samples(device_, cell, operands, [&](const Operands& set) { one->run(set); });
      row.reason = found.reason;
      if (found.ok) bound.push_back({out.plans.size() - 1, std::move(one)});
    } catch (const StatusError& error) {
      if (!is_of_the_call(error)) throw;
      row.reason = error.what();
    }
  }
  return bound;
}

void Tuner::time(const std::vector<Bound>& bound, const CellOperands& operands,
                 const MeasureOptions& how, TunedCall& out) {
  std::vector<Candidate> candidates;
  for (const Bound& one : bound) {
    candidates.push_back(
        {out.plans[one.place].plan, [&](std::int64_t i) { one.call->run(operands[i]); }});
  }
  const std::vector<Samples> samples = measure(timer_, candidates, Mode::kBurst, how);
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (samples[i].rounds < how.rounds) throw Stopped();
    out.plans[bound[i].place].ms = summarize(samples[i].milliseconds);
  }
}

TunedCall Tuner::tune(const gemm::CallToPlan& call) {
  TunedCall out;
  try {
    // The key needs the plan's problem, in which a batch of one product is a single product.
    const gemm::Plan planned =
        gemm::plan(call.problem, call.alignment, gemm::limits_of(device_.info()),
                   {.workspace_limit = call.workspace_limit});
    out.key = gemm::key_of({planned.problem, call.alignment, call.workspace_limit});
    DrawnCell cell;
    cell.problem = measured_problem(planned.problem);
    cell.in_place = cell.problem.beta != 0;
    if (out.key.empty() || planned.steps.empty() || !reads_ab(cell.problem)) {
      out.reason = "there is nothing to choose";
      return out;
    }
    const CellOperands operands = memory_.operands(cell);
    std::vector<Bound> bound = bind(call, cell, operands, out);
    if (bound.empty()) {
      out.reason = out.plans.front().reason;
      return out;
    }
    MeasureOptions few = sweep_protocol().timing, turns = two_plans_protocol().timing;
    few.stop = turns.stop = options_.stop;
    few.seed = turns.seed = options_.seed;
    turns.idle_ms = 0;
    time(bound, operands, few, out);
    const double near = kNearTheFastest * fastest(out);
    std::erase_if(bound, [&](const Bound& one) {
      return one.place != 0 && out.plans[one.place].ms.median > near;
    });
    time(bound, operands, turns, out);
    for (const Bound& one : bound) out.plans[one.place].is_final = true;
    choose(out);
  } catch (const StatusError& error) {
    if (!is_of_the_call(error)) throw;
    out.reason = error.what();
  }
  return out;
}

std::vector<TunedCall> TuneAll::run(Tuner& tuner,
                                    const std::vector<gemm::CallToPlan>& calls) const {
  std::vector<TunedCall> done;
  for (const gemm::CallToPlan& call : calls) {
    if (over && over()) break;
    if (progress) progress(done.size(), call);
    try {
      done.push_back(tuner.tune(call));
    } catch (const Stopped&) {
      break;
    }
    if (!done.back().reason.empty()) continue;
    gemm::Overlay overlay = gemm::read_overlay(path);
    gemm::ignore_if_foreign(overlay, here);
    overlay.origin = here;
    overlay.entries[done.back().key] = done.back().entry();
    gemm::write_overlay(overlay);
  }
  return done;
}

}  // namespace tessera::lab
