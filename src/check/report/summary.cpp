#include "check/report/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::checking {
namespace {

std::uint64_t warp_instructions(const CheckResult& result) {
  std::uint64_t most = 0;
  for (const CheckRun& run : result.runs) most = std::max(most, run.report.warp_instructions);
  return most;
}

// Returns a text on the runs: "3 runs (eager; warps by index and by seeds 1 to 2), 84000 warp
// instructions each".
std::string runs_text(const CheckReport& report) {
  const CheckResult& result = report.result;
  const int seeds = report.plan.warp_orders - 1;
  std::string text = plural(result.runs.size(), "run");
  text += result.one_schedule ? " (the code has nothing asynchronous, so one schedule"
                              : " (asynchronous operations eager and lazy";
  text += "; warps by index";
  if (seeds > 0)
    text += seeds == 1 ? " and by seed 1" : fmt::format(" and by seeds 1 to {}", seeds);
  text += ")";
  const auto finished = std::count_if(result.runs.begin(), result.runs.end(),
                                      [](const CheckRun& run) { return run.finished; });
  if (finished != static_cast<std::ptrdiff_t>(result.runs.size())) {
    text += fmt::format(", {} finished", finished);
  }
  const std::uint64_t instructions = warp_instructions(result);
  if (instructions != 0) text += fmt::format(", {} each", plural(instructions, "warp instruction"));
  return text;
}

// Returns the verdict of a check without findings.
std::string clean_text(const CheckResult& result) {
  std::string text = "clean: no finding";
  if (!result.unwritten.empty()) {
    text += fmt::format(", but never written: {}", fmt::join(result.unwritten, "; "));
  }
  return text +
         "\nchecked: races, lost updates, missing barriers, waits and fences, uninitialised reads, "
         "bounds,\n         alignment, barrier use, deadlock\n";
}

}  // namespace

std::string plural(std::uint64_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::set<std::string> approximate_forms(const CheckResult& result) {
  std::set<std::string> forms;
  for (const CheckRun& run : result.runs) {
    forms.insert(run.report.approximate_forms.begin(), run.report.approximate_forms.end());
  }
  return forms;
}

std::string summary_text(const CheckReport& report) {
  const CheckResult& result = report.result;
  std::string text;
  if (result.wrong() == 0 && result.stopped) {
    text += "no finding so far\n";
  } else if (result.wrong() == 0) {
    text += clean_text(result);
  } else {
    text += plural(result.wrong_groups(), "finding");
    if (result.wrong() > result.wrong_groups()) {
      text += fmt::format(", at {}", plural(result.wrong(), "place"));
    }
    text += "\n";
  }
  text += fmt::format("ran: {}\n", runs_text(report));
  if (warp_instructions(result) != 0) {
    const std::set<std::string> forms = approximate_forms(result);
    text += forms.empty() ? "every instruction that ran is computed bit for bit\n"
                          : fmt::format("approximate or by a model: {}\n", fmt::join(forms, ", "));
  }
  if (result.stopped) text += "stopped by Ctrl-C: not all orders were run\n";
  return text + fmt::format("again: {}\n", report.command);
}

}  // namespace tessera::checking
