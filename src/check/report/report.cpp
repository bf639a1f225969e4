#include "check/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "check/report/summary.h"
#include "check/runs/alignments.h"
#include "check/runs/disagreements.h"
#include "check/runs/groups.h"
#include "check/source.h"

namespace tessera::checking {
namespace {

using vgpu::Finding;
using vgpu::FindingPlace;

constexpr std::size_t kMostText = 90;  // most characters of a source line that are shown
constexpr std::size_t kMostNotes = 3;
constexpr std::size_t kShownInFull = 4;  // groups of findings shown in full; the rest in one line

std::string_view severity_name(vgpu::Severity severity) {
  if (severity == vgpu::Severity::kNote) return "note";
  return severity == vgpu::Severity::kError ? "error" : "lockstep";
}

// Returns the title of a finding: "error: race". If the check has the name of its severity, the
// word appears once.
std::string title_of(const Finding& finding) {
  const std::string_view severity = severity_name(finding.severity);
  if (severity == finding.check) return finding.check;
  return fmt::format("{}: {}", severity, finding.check);
}

// Returns a line of a file so that a terminal may show it: without control characters, with each
// tab as one space.
std::string harmless(std::string text) {
  for (char& c : text) {
    if (c == '\t') c = ' ';
    if ((c >= 0 && c < ' ') || c == '\x7f') c = '?';
  }
  return text;
}

std::string who(const FindingPlace& place) {
  std::string text = fmt::format("CTA {}", place.cta);
  if (place.warp >= 0) text += fmt::format(", warp {}", place.warp);
  if (place.lane >= 0) text += fmt::format(", lane {}", place.lane);
  return text;
}

std::string place_text(const FindingPlace& place, SourceLines& lines) {
  const ShownLine at = lines.at(place);
  std::string text = fmt::format("  {}:{}: {}\n", at.file, at.line, place.what);
  if (!at.text.empty()) {
    const std::string line = harmless(at.text);
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    // If the column is beyond the end of the line, the file is another version; the caret then
    // marks the line's start.
    const auto column = static_cast<std::size_t>(std::max(at.column, 1)) - 1;
    const std::size_t caret = column > first && column < line.size() ? column : first;
    const std::size_t begin = caret > first + kMostText - 10 ? caret - kMostText / 2 : first;
    text += fmt::format("  {:>6} | {}\n", at.line, line.substr(begin, kMostText));
    text += fmt::format("         | {:>{}}\n", '^', caret - begin + 1);
  }
  for (const auto& [file, line] : place.callers) {
    const ShownLine caller = lines.at(file, line);
    const std::string code = harmless(caller.text);
    const std::size_t first = std::min(code.find_first_not_of(' '), code.size());
    text += fmt::format("         inlined at {}:{}: {}\n", caller.file, caller.line,
                        code.substr(first, kMostText));
  }
  text += fmt::format("         by {}", who(place));
  if (!place.form.empty()) text += fmt::format("; PTX line {}: {}", place.ptx_line, place.form);
  return text + "\n";
}

// Returns "array a, element [3,17]" or "4 bytes past the end of array a"; "" if the finding
// concerns no array.
std::string array_text(const Finding& finding, const CheckReport& report) {
  constexpr std::uint64_t kRedZone = 4096;
  if (!finding.has_address) return "";
  for (const HostArray& array : report.plan.arrays) {
    const auto found = report.result.addresses.find(array.name);
    if (found == report.result.addresses.end()) continue;
    const std::uint64_t base = found->second, end = base + array.bytes.size();
    const std::uint64_t at = finding.address;
    if (at >= base && at < end) {
      return fmt::format("array {} ({}), byte {}", array.name, shape_text(array), at - base);
    }
    if (at >= end && at - end < kRedZone) {
      return fmt::format("{} past the end of array {} ({})", plural(at - end, "byte"), array.name,
                         shape_text(array));
    }
    if (at < base && base - at <= kRedZone) {
      return fmt::format("{} before the begin of array {} ({})", plural(base - at, "byte"),
                         array.name, shape_text(array));
    }
  }
  return "";
}

std::string seen_text(const SeenFinding& seen, const CheckReport& report) {
  std::string text =
      fmt::format("in {} of {}", seen.runs, plural(report.result.runs.size(), "run"));
  if (seen.runs == 1 && report.result.runs.size() > 1) text += fmt::format(" ({})", seen.order);
  if (seen.instructions > 1) {
    text += fmt::format(", at {} places of the PTX", seen.instructions);
  }
  if (seen.finding.count > 1) text = fmt::format("{} times, {}", seen.finding.count, text);
  return text;
}

// Indents all lines after the first line, which holds the message's sentence.
std::string indented(const std::string& message) {
  std::string text;
  for (const char c : message) text += c == '\n' ? std::string("\n   ") : std::string(1, c);
  return text;
}

// Shortens "out of bounds in global memory: an access of 4 bytes, 0 bytes past ...": leaves out the
// words that the check's name already says, and names the array instead of its bytes.
std::string access_text(const std::string& message, const std::string& array) {
  const std::string begin = "out of bounds in ", access = ": an access of ";
  const std::size_t colon = message.find(access), comma = message.find(", ", colon);
  if (!message.starts_with(begin) || comma == message.npos) return message;
  const std::size_t bytes = colon + access.size();
  return fmt::format("an access of {} of {}, {}", message.substr(bytes, comma - bytes),
                     message.substr(begin.size(), colon - begin.size()),
                     array.empty() ? message.substr(comma + 2) : array);
}

std::string finding_text(const vgpu::Cure& group, SourceLines& lines, const CheckReport& report) {
  const SeenFinding& seen = report.result.findings[group.findings.front()];
  const Finding& finding = seen.finding;
  const std::string name = finding.check + ": ";
  const std::string array = array_text(finding, report);
  const std::string message = access_text(finding.message, array);
  const bool repeats = message.starts_with(name);  // "deadlock: every warp waits"
  std::string text = fmt::format("{}: {}\n", title_of(finding),
                                 indented(message.substr(repeats ? name.size() : 0)));
  for (const FindingPlace& place : finding.places) text += place_text(place, lines);
  for (const FindingPlace& place : finding.related) text += place_text(place, lines);
  if (!array.empty() && message == finding.message) text += fmt::format("  where: {}\n", array);
  text += fmt::format("  seen:  {}\n", seen_text(seen, report));
  text += also_text(group, report.result, lines, report.all);
  const std::string cure = cure_text(group, report.result, lines);
  if (!cure.empty()) text += fmt::format("  do:    {}\n", cure);
  return text + "\n";
}

std::string finding_line(const vgpu::Cure& group, SourceLines& lines, const CheckReport& report) {
  const Finding& finding = report.result.findings[group.findings.front()].finding;
  std::string text = title_of(finding);
  for (const FindingPlace& place : finding.places) {
    const ShownLine at = lines.at(place);
    text += fmt::format("{} {}:{}", &place == &finding.places[0] ? "" : ",", at.file, at.line);
  }
  const std::size_t others = group.findings.size() - 1;
  return text + (others == 0 ? "\n" : fmt::format(", and {} more\n", others));
}

std::string shape_text(const LaunchShape& shape) {
  std::string text = fmt::format("grid {} x {} x {}, block {} x {} x {}", shape.grid, shape.grid_y,
                                 shape.grid_z, shape.block, shape.block_y, shape.block_z);
  if (shape.cluster[0] != 0) {
    text +=
        fmt::format(", cluster {} x {} x {}", shape.cluster[0], shape.cluster[1], shape.cluster[2]);
  }
  if (shape.shared_bytes != 0)
    text += fmt::format(", {} bytes of dynamic shared memory", shape.shared_bytes);
  return text;
}

// Returns the text that printf() wrote, as far as it fits on a screen.
std::string printed_text(const CheckReport& report) {
  constexpr std::size_t kMostLines = 40;
  const std::string& printed = report.result.printed;
  if (printed.empty()) return "";
  std::string text = "printed in the first run:\n";
  std::size_t lines = 0, at = 0;
  for (; at < printed.size() && (report.all || lines < kMostLines); ++lines) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    text += "  " + harmless(printed.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  if (at < printed.size()) {
    const auto more =
        std::count(printed.begin() + static_cast<std::ptrdiff_t>(at), printed.end(), '\n');
    text += fmt::format("  ({} more; --all shows them)\n",
                        plural(static_cast<std::size_t>(more) + !printed.ends_with('\n'), "line"));
  }
  return text + "\n";
}

std::string notes_text(const CheckReport& report) {
  std::string text;
  std::set<std::string> told;
  for (const std::string& name : report.result.zero_constants) {
    text += fmt::format("note: __constant__ {} is zero here; --set {}=VALUE gives it one\n", name,
                        name);
  }
  for (const HostArray& array : report.plan.arrays) {
    if (!array.fortran_order) continue;
    text += fmt::format(
        "note: array {} ({}) comes from a file in Fortran order: its first index is the one that "
        "is contiguous in memory\n",
        array.name, shape_text(array));
  }
  for (const std::string& sentence : loose_alignments(report.plan.code.ptx)) {
    text += "note: " + sentence + "\n";
  }
  if (report.plan.earlier.empty() &&
      report.plan.code.ptx.find("griddepcontrol.wait") != std::string::npos) {
    text +=
        "note: the kernel waits for the launches ahead of it (griddepcontrol.wait); --earlier NAME "
        "says which array they write, so that what comes before the wait is held against it\n";
  }
  // Remarks are shown only without findings: a finding explains what a remark reports.
  for (const std::string& remark : report.result.remarks) {
    if (report.result.wrong() == 0) text += "note: " + remark + "\n";
  }
  const auto first_finished = std::find_if(report.result.runs.begin(), report.result.runs.end(),
                                           [](const CheckRun& run) { return run.finished; });
  for (const Disagreement& one : report.result.disagreements) {
    if (!told.insert(one.array).second || told.size() > kMostNotes) continue;
    std::string first = one.difference.first;
    first.replace(first.find(", expected "), 11, " against ");
    text += fmt::format(
        "note: array {} depends on the order: {} between the runs{}, first {} ({}, against "
        "{})\n",
        one.array,
        one.difference.count == 1 ? "1 element differs"
                                  : fmt::format("{} elements differ", one.difference.count),
        kind_of(one, report.result), first, one.order, name_of(first_finished->order));
  }
  return text;
}

Json json_of(const FindingPlace& place, SourceLines& lines) {
  const ShownLine at = lines.at(place);
  const auto known = [](int number) { return number < 0 ? Json() : Json(number); };
  Json callers = Json::array();
  for (const auto& [file, line] : place.callers) {
    callers.push_back({{"source_file", lines.at(file, line).file}, {"source_line", line}});
  }
  return {{"inlined_at", callers},      {"what", place.what},     {"form", place.form},
          {"ptx_line", place.ptx_line}, {"source_file", at.file}, {"source_line", at.line},
          {"source_text", at.text},     {"cta", place.cta},       {"warp", known(place.warp)},
          {"lane", known(place.lane)}};
}

Json json_of(const SeenFinding& seen, SourceLines& lines, const CheckReport& report) {
  const Finding& finding = seen.finding;
  Json places = Json::array(), related = Json::array();
  for (const FindingPlace& place : finding.places) places.push_back(json_of(place, lines));
  for (const FindingPlace& place : finding.related) related.push_back(json_of(place, lines));
  return {{"check", finding.check},
          {"severity", severity_name(finding.severity)},
          {"message", finding.message},
          {"hint", finding.hint},
          {"count", finding.count},
          {"runs", seen.runs},
          {"where", array_text(finding, report)},
          {"places", places},
          {"related", related}};
}

}  // namespace

std::string text_of(const CheckReport& report) {
  SourceLines lines(report.plan.code);
  std::string text =
      fmt::format("{}: kernel {}, {}\n\n", report.plan.code.path,
                  plain_kernel_name(report.plan.kernel.name), shape_text(report.plan.shape));
  const std::vector<vgpu::Cure>& groups = report.result.groups;
  if (!report.quiet) text += printed_text(report);
  const std::size_t shown = report.all ? groups.size() : kShownInFull;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    text +=
        i < shown ? finding_text(groups[i], lines, report) : finding_line(groups[i], lines, report);
  }
  if (groups.size() > shown) text += "(--all shows these in full)\n\n";
  return text + notes_text(report) + summary_text(report);
}

Json json_of(const CheckReport& report) {
  SourceLines lines(report.plan.code);
  Json runs = Json::array(), findings = Json::array(), notes = Json::array();
  for (const CheckRun& run : report.result.runs) {
    runs.push_back({{"order", name_of(run.order)},
                    {"finished", run.finished},
                    {"findings", run.report.findings.size()},
                    {"warp_instructions", run.report.warp_instructions},
                    {"lane_instructions", run.report.lane_instructions},
                    {"host_seconds", run.report.host_seconds}});
  }
  const std::vector<int> groups = groups_of(report.result);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    findings.push_back(json_of(report.result.findings[i], lines, report));
    findings.back()["group"] = groups[i];
  }
  for (const Disagreement& one : report.result.disagreements) {
    notes.push_back({{"array", one.array},
                     {"order", one.order},
                     {"elements", one.difference.count},
                     {"first", one.difference.first}});
  }
  return {{"schema", "tessera.check/1"},
          {"command", report.command},
          {"file", report.plan.code.path},
          {"kernel", plain_kernel_name(report.plan.kernel.name)},
          {"entry", report.plan.kernel.name},
          {"launch", shape_text(report.plan.shape)},
          {"clean", report.result.wrong() == 0 && !report.result.stopped},
          {"complete", !report.result.stopped},
          {"findings", findings},
          {"never_written", report.result.unwritten},
          {"printed", report.result.printed},
          {"depends_on_order", notes},
          {"approximate_forms", approximate_forms(report.result)},
          {"runs", runs}};
}

Table table_of(const CheckReport& report) {
  SourceLines lines(report.plan.code);
  Table table{{"group", "severity", "check", "message", "where", "source", "count", "runs", "do"},
              {}};
  const std::vector<int> groups = groups_of(report.result);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const SeenFinding& seen = report.result.findings[i];
    const Finding& finding = seen.finding;
    std::string where, source;
    for (const FindingPlace& place : finding.places) {
      const ShownLine at = lines.at(place);
      where += fmt::format("{}{}:{}", where.empty() ? "" : ", ", at.file, at.line);
      if (source.empty()) source = harmless(at.text);
    }
    source.erase(0, std::min(source.find_first_not_of(' '), source.size()));
    table.rows.push_back({std::to_string(groups[i]), std::string(severity_name(finding.severity)),
                          finding.check, harmless(finding.message), where, source,
                          std::to_string(finding.count), std::to_string(seen.runs), finding.hint});
  }
  return table;
}

}  // namespace tessera::checking
