#include "check/runs/groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::checking {
namespace {

constexpr std::size_t kMostAlso = 3;  // most further findings of a group that are shown

std::string line_name(const vgpu::FindingPlace& place, SourceLines& lines) {
  const ShownLine at = lines.at(place);
  return fmt::format("{}:{}", at.file, at.line);
}

}  // namespace

std::string also_text(const vgpu::Cure& group, const CheckResult& result, SourceLines& lines,
                      bool all) {
  const std::size_t others = group.findings.size() - 1;
  const std::size_t shown = all ? others : std::min(others, kMostAlso);
  std::string text;
  for (std::size_t i = 1; i <= shown; ++i) {
    const vgpu::Finding& finding = result.findings[group.findings[i]].finding;
    std::string where;
    for (const vgpu::FindingPlace& place : finding.places) {
      where += (where.empty() ? "" : " and ") + line_name(place, lines);
    }
    const std::string& check = finding.check;
    if (check != result.findings[group.findings[0]].finding.check) where = check + ", " + where;
    text += fmt::format("  {:<6} {}, {} time{}\n", i == 1 ? "also:" : "", where, finding.count,
                        finding.count == 1 ? "" : "s");
  }
  if (others > shown) {
    text += fmt::format("         and {} more; --all shows them\n", others - shown);
  }
  return text;
}

std::string cure_text(const vgpu::Cure& group, const CheckResult& result, SourceLines& lines) {
  const vgpu::Finding& first = result.findings[group.findings.front()].finding;
  if (group.findings.size() == 1) return first.hint;
  const std::string file = lines.at(first.places.front()).file;
  const auto name = [&](const vgpu::FindingPlace& place) {
    const ShownLine at = lines.at(place);
    return at.file == file ? fmt::format("line {}", at.line) : line_name(place, lines);
  };
  return fmt::format("{}; that mends all {}", text_of(group, plain_findings(result), name),
                     group.findings.size());
}

std::vector<int> groups_of(const CheckResult& result) {
  std::vector<int> groups(result.findings.size());
  int number = 0;
  for (const vgpu::Cure& group : result.groups) {
    ++number;
    for (const std::size_t i : group.findings) groups[i] = number;
  }
  return groups;
}

}  // namespace tessera::checking
