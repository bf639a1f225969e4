#include "check/propose/endings.h"

#include <algorithm>

namespace tessera::checking {

bool is_in_shared(const Trial& trial) {
  return trial.message.find("in shared memory") != std::string::npos;
}

bool leaves_arrays(const Trial& trial) {
  return trial.fault == "out-of-bounds" && !is_in_shared(trial);
}

bool is_fault_of_kernel(const Trial& trial) {
  if (trial.finished || wants_map(trial)) return false;
  // WHY "endless" is not the kernel's fault: an unknown number may set the iterations of a loop.
  if (trial.fault == "stopped" || trial.fault == "endless") return false;
  return !leaves_arrays(trial);
}

bool wants_map(const Trial& trial) {
  return trial.message.find("no tensor map") != std::string::npos;
}

std::string first_line(const Trial& trial) {
  if (trial.fault == "stopped" || trial.message.empty()) return trial.fault;
  const std::string line = trial.message.substr(0, trial.message.find('\n'));
  if (!wants_map(trial)) return line;
  return line +
         "; a parameter takes one as NAME=tensormap(ARRAY, BOX), or behind a pointer as "
         "NAME=pointer(tensormap(ARRAY, BOX))";
}

bool blames_what_is_given(const CallWords& given, const std::string& message) {
  const auto names = [&](const std::string& option, const std::string& text) {
    const std::string name = text.substr(0, text.find('='));
    return message.find(option + " is '" + name) != message.npos ||
           message.find(option + " " + name + " ") != message.npos;
  };
  const auto any = [&](const std::string& option, const std::vector<std::string>& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return names(option, text); });
  };
  const auto shape = [&](const std::string& option, const std::string& text) {
    return !text.empty() && message.find(option + " ") != message.npos &&
           message.find("'" + text + "'") != message.npos;
  };
  return any("--arg", given.arguments) || any("--array", given.arrays) ||
         shape("--grid", given.grid) || shape("--block", given.block) ||
         shape("--cluster", given.cluster) || shape("--shared", given.shared);
}

CheckResult checked_once(CheckPlan plan, double seconds) {
  plan.warp_orders = 1;
  plan.seconds = seconds;
  return run_check(plan, [](int, int) {});
}

double instructions_of(const CheckResult& checked) {
  double all = 0;
  for (const CheckRun& run : checked.runs) {
    all += static_cast<double>(run.report.warp_instructions);
  }
  return all;
}

std::vector<std::string> names_of(const CheckResult& checked) {
  std::vector<std::string> names;
  for (const SeenFinding& seen : checked.findings) {
    if (!is_note(seen)) names.push_back(seen.finding.check);
  }
  return names;
}

std::vector<std::string> read_first(const CheckResult& checked) {
  std::vector<std::string> names;
  for (const SeenFinding& seen : checked.findings) {
    if (seen.finding.check != "uninitialised-global-read" || !seen.finding.has_address) continue;
    std::string nearest;
    std::uint64_t base = 0;
    for (const auto& [name, address] : checked.addresses) {
      if (address > seen.finding.address || address < base) continue;
      nearest = name;
      base = address;
    }
    if (!nearest.empty()) names.push_back(nearest);
  }
  return names;
}

bool finds_update(const CheckResult& checked) {
  return std::any_of(checked.findings.begin(), checked.findings.end(), [](const SeenFinding& seen) {
    return seen.finding.check == "lost-update" ||
           seen.finding.hint.starts_with("make the update of");
  });
}

bool all_finished(const CheckResult& checked) {
  return !checked.runs.empty() && std::all_of(checked.runs.begin(), checked.runs.end(),
                                              [](const CheckRun& run) { return run.finished; });
}

bool is_fault_of_kernel(const CheckResult& checked) {
  return std::any_of(checked.runs.begin(), checked.runs.end(), [](const CheckRun& run) {
    if (run.finished || run.report.findings.empty()) return false;
    Trial trial;
    trial.fault = run.report.findings.back().check;
    trial.message = run.report.findings.back().message;
    return is_fault_of_kernel(trial);
  });
}

}  // namespace tessera::checking
