#include "cli/terminal/verify_failures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/status.h"
#include "lab/verify/common.h"
#include "vgpu/observe/cures.h"

namespace tessera::cli {
namespace {

constexpr std::size_t kShown = 3;      // failing cases that are printed per kernel
constexpr std::size_t kMostPairs = 3;  // pairs of lines that one change would fix

using Cases = std::vector<const VerifiedCase*>;

std::vector<lab::LatticeCase> problems_of(const Cases& cases) {
  std::vector<lab::LatticeCase> problems;
  for (const VerifiedCase* each : cases) problems.push_back(each->one);
  return problems;
}

double products_of(const VerifiedCase* one) {
  const Problem& p = one->one.problem;
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

std::string lines_of(const vgpu::Finding& finding) {
  std::string text;
  for (const vgpu::FindingPlace& place : finding.places) {
    text += (text.empty() ? "" : " and ") + vgpu::own_line(place);
  }
  return text;
}

std::string cure_text(const vgpu::Cure& cure, const std::vector<vgpu::Finding>& findings) {
  const vgpu::Finding& first = findings[cure.findings.front()];
  std::uint64_t times = 0;
  for (const std::size_t i : cure.findings) times += findings[i].count;
  std::string text = fmt::format("    {}, {} times: {}.\n", first.check, times, first.message);
  if (cure.findings.size() == 1) {
    for (const vgpu::FindingPlace& place : first.places) {
      text += fmt::format("      {}: {}: {}\n", vgpu::own_line(place), place.form, place.what);
    }
  } else {
    text += fmt::format("      One change mends this and {} more pair{} of lines:\n",
                        cure.findings.size() - 1, cure.findings.size() == 2 ? "" : "s");
    for (std::size_t i = 0; i < std::min(kMostPairs, cure.findings.size()); ++i) {
      text += fmt::format("      {}\n", lines_of(findings[cure.findings[i]]));
    }
  }
  return text + fmt::format("      do: {}\n", text_of(cure, findings, vgpu::own_line));
}

std::string findings_text(const VerifiedCase& smallest, const Recheck& recheck) {
  std::vector<vgpu::Finding> findings = smallest.record.findings;
  std::string text = fmt::format("  The smallest, {}, under checks:", smallest.one.name());
  try {
    if (findings.empty()) findings = recheck(smallest);
  } catch (const StatusError& error) {
    return text + fmt::format(" not run: {}\n", error.what());
  }
  if (findings.empty()) {
    return text + " no finding, so its threads do as they should, and compute something else\n";
  }
  text += "\n";
  for (const vgpu::Cure& cure : vgpu::by_cure(findings)) text += cure_text(cure, findings);
  return text;
}

std::string kernel_text(const Cases& cases, const Recheck& recheck) {
  Cases failed, passed;
  for (const VerifiedCase* each : cases) {
    if (each->failed()) failed.push_back(each);
    if (!each->failed() && each->record.verified) passed.push_back(each);
  }
  if (failed.empty()) return "";
  const lab::Record& first = failed.front()->record;
  std::string text = fmt::format("\nFAILED {}, {}: {} of {} problems\n", first.kernel, first.config,
                                 failed.size(), failed.size() + passed.size());
  for (std::size_t i = 0; i < std::min(kShown, failed.size()); ++i) {
    const lab::Record& record = failed[i]->record;
    text += fmt::format("  {}\n    {}\n", record.reason, record.command);
  }
  if (failed.size() > kShown) {
    text += fmt::format("  {} more; --json FILE lists them\n", failed.size() - kShown);
  }
  const std::string shared = lab::shared_text(problems_of(failed), problems_of(passed));
  if (!shared.empty()) text += "  " + shared + "\n";
  return text + findings_text(**std::ranges::min_element(failed, {}, products_of), recheck);
}

}  // namespace

std::string failures_text(const std::vector<VerifiedCase>& cases, const Recheck& recheck) {
  std::vector<std::pair<std::string, Cases>> kernels;  // in the order of their first cases
  for (const VerifiedCase& each : cases) {
    const std::string name = each.record.kernel + "/" + each.record.config;
    auto at = std::ranges::find(kernels, name, &std::pair<std::string, Cases>::first);
    if (at == kernels.end()) at = kernels.insert(kernels.end(), {name, {}});
    at->second.push_back(&each);
  }
  std::string text;
  for (const auto& [name, of_kernel] : kernels) text += kernel_text(of_kernel, recheck);
  return text;
}

}  // namespace tessera::cli
