#include "check/runs/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/interrupt.h"
#include "check/runs/disagreements.h"
#include "check/runs/earlier.h"
#include "check/runs/guesses.h"
#include "check/runs/launching.h"
#include "check/runs/refusals.h"
#include "check/runs/remarks.h"
#include "check/runs/undefined.h"
#include "check/runs/variables.h"
#include "device/virtual/virtual_device.h"
#include "vgpu/observe/written_lines.h"
#include "vgpu/report/print_log.h"

namespace tessera::checking {
namespace {

vgpu::Finding unexpected(const Expectation& expectation, const HostArray& found,
                         const Difference& difference, std::uint64_t address) {
  vgpu::Finding finding;
  finding.check = "unexpected-result";
  finding.message =
      fmt::format("array {} differs from {} in {} of {} elements, first {}", found.name,
                  expectation.path, difference.count, found.elements(), difference.first);
  finding.hint =
      "If there are other findings, fix those first; --tolerance X "
      "allows for rounding.";
  finding.count = difference.count;
  finding.address = address;
  finding.has_address = true;
  return finding;
}

// Compares the results of a finished run with the expected results and with the first run.
void judge(const CheckPlan& plan, std::vector<HostArray> results, CheckRun& run,
           CheckResult& result) {
  for (const Expectation& expectation : plan.expectations) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const HostArray& array) {
      return array.name == expectation.values.name;
    });
    const Difference difference = compare(*found, expectation.values, plan.tolerance);
    if (difference.count == 0) continue;
    run.report.findings.push_back(
        unexpected(expectation, *found, difference, result.addresses.at(found->name)));
  }
  if (result.results.empty()) {
    result.results = std::move(results);
    return;
  }
  note_disagreements(results, run.order, result);
}

// Notes why a run was stopped. A stop by Ctrl-C is not the kernel's fault; a stop by the time limit
// may be.
void note_stop(const CheckPlan& plan, CheckRun& run, CheckResult& result) {
  if (interrupted()) {
    result.stopped = true;
    run.report.findings.pop_back();
    return;
  }
  vgpu::Finding& finding = run.report.findings.back();
  finding.check = "endless";
  finding.message = fmt::format("still running after {} s", plan.seconds);
  finding.hint =
      "Look for a loop that waits for something that never happens; if the kernel is only slow, "
      "launch fewer blocks or give it more --seconds.";
}

// Records which lines the kernel stores to, in a quick run without checks. Arrays have the same
// addresses in every run. Nothing is recorded if the run does not end.
void record_stores(const CheckPlan& plan, vgpu::WrittenLines& lines) {
  const Watchdog watchdog(plan.seconds / 4);
  vgpu::Observation observation;
  observation.record_writes = &lines;
  const std::unique_ptr<VirtualDevice> device =
      device_for(plan, watchdog, observation, plan.host_threads);
  try {
    launch(plan, place(plan, *device), *device);
  } catch (const LaunchFault&) {
    lines.forget();
  }
}

CheckRun run_once(const CheckPlan& plan, const RunOrder& order, vgpu::WrittenLines& lines,
                  CheckResult& result) {
  CheckRun run;
  run.order = order;
  const Watchdog watchdog(plan.seconds);
  vgpu::PrintLog prints;
  vgpu::Observation observation;
  observation.checks = true;
  observation.schedule = order.schedule;
  observation.warp_order_seed = order.warp_seed;
  observation.prints = &prints;
  observation.written_lines = lines.is_recorded() ? &lines : nullptr;
  observation.updates = &result.updates;
  observation.arrays = &result.arrays;
  if (const lab::CodeNeeds needs = needs_of(plan); needs.moves_registers) {
    observation.registers = needs.registers;
  }
  const std::unique_ptr<VirtualDevice> device =
      device_for(plan, watchdog, observation, plan.host_threads);
  const Placed placed = place(plan, *device);
  result.addresses = placed.arrays;
  try {
    launch(plan, placed, *device);
    run.finished = true;
    run.report = std::move(device->take_counts().at(0));
  } catch (const LaunchFault& fault) {
    run.report.findings = fault.before();
    run.report.findings.push_back(fault.finding());
    if (fault.finding().check == "stopped") note_stop(plan, run, result);
  }
  name_launch_ahead(run.report);
  if (lines.has_missed()) {  // in this order it stores elsewhere: once more, with all reads
    lines.forget();
    return run_once(plan, order, lines, result);
  }
  if (run.finished) {
    std::vector<HostArray> results = results_of(plan, placed, *device);
    if (result.results.empty()) {
      Remarks remarks = remarks_on(plan, placed, results, *device);
      result.remarks = std::move(remarks.notes);
      result.unwritten = std::move(remarks.unwritten);
    }
    judge(plan, std::move(results), run, result);
  }
  if (result.runs.empty()) result.printed = prints.text();
  return run;
}

// Whether a kernel of this code may give other results if its asynchronous operations run at
// another time.
bool is_asynchronous(const Code& code) {
  for (const char* opcode : {"cp.async", "cp.reduce.async", "wgmma.", "st.async", "red.async"}) {
    if (code.ptx.find(opcode) != std::string::npos) return true;
  }
  return false;
}

// The source lines of a finding, in any order; PTX lines if the source is not known.
using Line = std::pair<std::string, int>;
using Lines = std::set<std::vector<Line>>;
Lines lines_of(const vgpu::Finding& finding) {
  Lines lines;
  for (const vgpu::FindingPlace& place : finding.places) {
    const bool known = !place.source_file.empty();
    std::vector<Line> line = {{place.source_file, known ? place.source_line : place.ptx_line}};
    line.insert(line.end(), place.callers.begin(), place.callers.end());
    lines.insert(std::move(line));
  }
  return lines;
}

// Whether a user sees two findings as one bug: unrolled loops and vector accesses make many
// findings of one line.
bool same_bug(const vgpu::Finding& a, const vgpu::Finding& b) {
  if (a.places.empty() && a.address != b.address) return false;  // another array
  return a.check == b.check && lines_of(a) == lines_of(b);
}

SeenFinding* find(std::vector<SeenFinding>& all, const vgpu::Finding& finding) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const SeenFinding& seen) {
    return same_bug(seen.finding, finding);
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<SeenFinding> grouped(const CheckRun& run) {
  std::vector<SeenFinding> groups;
  for (const vgpu::Finding& finding : run.report.findings) {
    if (SeenFinding* group = find(groups, finding)) {
      group->finding.count += finding.count;
      ++group->instructions;
    } else {
      groups.push_back({finding, 1, 1, name_of(run.order)});
    }
  }
  return groups;
}

void add(const CheckRun& run, std::vector<SeenFinding>& all) {
  for (SeenFinding& group : grouped(run)) {
    if (SeenFinding* seen = find(all, group.finding)) {
      seen->finding.count = std::max(seen->finding.count, group.finding.count);
      seen->instructions = std::max(seen->instructions, group.instructions);
      ++seen->runs;
    } else {
      all.push_back(std::move(group));
    }
  }
}

// Returns the rank of a finding in the report: faults that end a kernel, then wrong order, then
// consequences of wrong order. A read before a write often means that the write came late.
int rank_of(const SeenFinding& seen) {
  const std::string& check = seen.finding.check;
  if (check == "launch-refused") return 0;
  if (is_note(seen)) return 5;
  if (check == "unexpected-result") return 4;
  if (seen.finding.severity == vgpu::Severity::kLockstep) return 3;
  if (check.starts_with("uninitialised")) return 2;
  for (const char* fault :
       {"out-of-bounds", "misaligned", "deadlock", "trap", "assert", "endless"}) {
    if (check == fault) return 0;
  }
  return 1;
}

// Drops findings of severity kLockstep (a warp that runs in lockstep hides them) if a race at the
// same lines is reported: the cure of the race cures them, too.
void drop_what_races_cover(std::vector<SeenFinding>& findings) {
  std::set<Lines> races;
  for (const SeenFinding& seen : findings) {
    if (seen.finding.check == "race") races.insert(lines_of(seen.finding));
  }
  std::erase_if(findings, [&](const SeenFinding& seen) {
    return seen.finding.severity == vgpu::Severity::kLockstep &&
           races.count(lines_of(seen.finding)) != 0;
  });
}

void sort(std::vector<SeenFinding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
    return a.runs > b.runs;
  });
}

}  // namespace

std::vector<vgpu::Finding> plain_findings(const CheckResult& result) {
  std::vector<vgpu::Finding> findings;
  for (const SeenFinding& seen : result.findings) findings.push_back(seen.finding);
  return findings;
}

std::string name_of(const RunOrder& order) {
  const char* schedule = order.schedule == vgpu::AsyncSchedule::kEager ? "eager" : "lazy";
  return order.warp_seed == 0 ? fmt::format("{}, warps by index", schedule)
                              : fmt::format("{}, warps by seed {}", schedule, order.warp_seed);
}

std::vector<vgpu::KernelSignature> kernels_of(const Code& code) {
  return as_bad_argument([&] {
    const std::unique_ptr<VirtualDevice> device = make_virtual_device({.host_threads = 1});
    return device->kernels(device->load(image_of(code)));
  });
}

CheckResult run_check(const CheckPlan& plan, const std::function<void(int, int)>& progress) {
  CheckResult result;
  result.one_schedule = !is_asynchronous(plan.code);
  result.zero_constants = zero_constants(plan);
  result.updates = vgpu::updates_in(plan.code.ptx);
  result.arrays = vgpu::array_uses_in(plan.code.ptx, plan.kernel.name);
  const int runs = (result.one_schedule ? 1 : 2) * plan.warp_orders;
  vgpu::WrittenLines lines;
  record_stores(plan, lines);
  for (int i = 0; i < runs; ++i) {
    if (interrupted()) {
      result.stopped = true;
      break;
    }
    progress(i, runs);
    RunOrder order;
    order.schedule =
        i < plan.warp_orders ? vgpu::AsyncSchedule::kEager : vgpu::AsyncSchedule::kLazy;
    order.warp_seed = static_cast<std::uint64_t>(i % plan.warp_orders);
    CheckRun run = run_once(plan, order, lines, result);
    if (result.stopped) break;
    result.runs.push_back(std::move(run));
    add(result.runs.back(), result.findings);
  }
  if (const auto refused = refused_for_registers(plan)) {
    result.findings.push_back(
        {*refused, 1, static_cast<int>(result.runs.size()), name_of(RunOrder{})});
  }
  note_guesses(plan, result);
  judge_undefined(plan, result);
  judge_disagreements(plan, result);
  drop_what_races_cover(result.findings);
  sort(result.findings);
  result.groups = vgpu::by_cure(plain_findings(result));
  return result;
}

}  // namespace tessera::checking
