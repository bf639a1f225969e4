#include "vgpu/observe/check/finding_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tessera::vgpu::check {
namespace {

// Where it was first seen, so that a report does not depend on the number of threads.
std::uint64_t first_cta(const Finding& finding) {
  return finding.places.empty() ? 0 : finding.places.front().cta;
}

}  // namespace

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  return text;
}

const char* name_of(Window window) {
  return window == Window::kShared ? "shared memory" : "global memory";
}

FindingLog::FindingLog(const Kernel& kernel) : kernel_(kernel) {
  using Inlined = std::vector<std::pair<std::string, int>>;
  std::map<std::tuple<std::string, int, Inlined, std::string>, std::uint32_t> known;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const InstructionInfo& info = kernel.instructions[i];
    const auto first =
        known.try_emplace({info.source_file, info.source_line, info.callers, info.form}, i).first;
    first_like_.push_back(info.source_line > 0 ? first->second : i);
  }
}

Finding* FindingLog::note(const char* name, Severity severity, std::uint32_t later,
                          std::uint32_t earlier, std::uint64_t address, std::uint64_t count) {
  const auto [at, is_new] = findings_.try_emplace(
      {name, static_cast<int>(severity), first_like(later), first_like(earlier)});
  Finding& finding = at->second;
  if (!is_new) {
    finding.count += count;
    return nullptr;
  }
  finding.check = name;
  finding.severity = severity;
  finding.address = address;
  finding.has_address = true;
  finding.count = count;
  return &finding;
}

void FindingLog::add(Finding finding) {
  const auto line = [&](std::size_t i) {
    return i < finding.places.size() ? static_cast<std::uint32_t>(finding.places[i].ptx_line) : 0;
  };
  const Key key{finding.check + "\n" + finding.message, static_cast<int>(finding.severity), line(0),
                line(1)};
  const std::uint64_t count = finding.count;
  const auto [at, is_new] = findings_.try_emplace(key, std::move(finding));
  if (!is_new) at->second.count += count;
}

FindingPlace FindingLog::place(const Place& place) const {
  FindingPlace to;
  to.what = place.what;
  to.cta = place.cta;
  to.warp = place.warp;
  to.lane = place.lane;
  if (place.instruction < kernel_.instructions.size()) {
    const InstructionInfo& info = kernel_.instructions[place.instruction];
    to.form = info.form;
    to.ptx_line = info.ptx_line;
    to.source_file = info.source_file;
    to.source_line = info.source_line;
    to.callers = info.callers;
  }
  return to;
}

std::string_view FindingLog::form(std::uint32_t instruction) const {
  if (instruction >= kernel_.instructions.size()) return {};
  return kernel_.instructions[instruction].form;
}

std::string FindingLog::line(std::uint32_t instruction) const {
  if (instruction >= kernel_.instructions.size()) return "an unknown line";
  const InstructionInfo& info = kernel_.instructions[instruction];
  return info.source_line > 0 ? fmt::format("line {}", info.source_line)
                              : fmt::format("PTX line {}", info.ptx_line);
}

void FindingLog::merge(FindingLog&& more) {
  for (auto& [key, finding] : more.findings_) {
    const auto [at, is_new] = findings_.try_emplace(key, finding);
    if (is_new) continue;
    const std::uint64_t count = at->second.count + finding.count;
    if (first_cta(finding) < first_cta(at->second)) at->second = std::move(finding);
    at->second.count = count;
  }
}

// Where a barrier is missing between warps, it is missing between the lanes of each, too: told
// once.
std::vector<Finding> FindingLog::sorted() const {
  std::set<int> races;
  for (const auto& [key, finding] : findings_) {
    if (finding.check != "race") continue;
    for (const FindingPlace& place : finding.places) races.insert(place.ptx_line);
  }
  std::vector<Finding> findings;
  for (const auto& [key, finding] : findings_) {
    const bool is_told = finding.check == "lockstep" &&
                         std::any_of(finding.places.begin(), finding.places.end(),
                                     [&](const auto& at) { return races.contains(at.ptx_line); });
    if (!is_told) findings.push_back(finding);
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity < b.severity;
    return a.count > b.count;
  });
  return findings;
}

}  // namespace tessera::vgpu::check
