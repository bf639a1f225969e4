#include <fmt/format.h>

#include <algorithm>

#include "sass/report/report.h"
#include "sass/report/report_parts.h"

namespace tessera::sass {
namespace {

int depth_at(const KernelReport& kernel, std::size_t index) {
  int depth = 0;
  for (const LoopReport& loop : kernel.loops) {
    const bool holds = std::binary_search(loop.members.begin(), loop.members.end(), index);
    if (holds) depth = std::max(depth, loop.depth);
  }
  return depth;
}

// Returns the source line of the instruction; "" if the previous instruction has the same line.
std::string line_mark(const KernelReport& kernel, std::size_t index) {
  if (kernel.lines.empty() || kernel.lines[index].line == 0) return "";
  const SourceLine& line = kernel.lines[index];
  if (index > 0 && kernel.lines[index - 1] == line) return "";
  return fmt::format("         // {}:{}\n", line.file.substr(line.file.rfind('/') + 1), line.line);
}

}  // namespace

std::string listing(const KernelReport& kernel) {
  std::string text = fmt::format(
      "{}, sm_{}\nst: stall cycles, Y: yield, w r: scoreboard set for results and sources, wait: "
      "scoreboards awaited,\nuse: operands kept in the reuse cache, +: bubbles of the port model, "
      "|: "
      "loops\n\naddress  st Y w  r  wait   use   +\n",
      kernel.name, kernel.sm);
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const Operation& operation = kernel.operations[i];
    text += line_mark(kernel, i);
    const double bubbles = kernel.bubbles_at(i);
    text += fmt::format(
        "{:#07x}  {} {:>3} {:<3} {}\n", i * kInstructionBytes, control_columns(operation.control),
        bubbles == 0 ? "" : "+" + rounded(std::min(bubbles, 9.0)),
        std::string(static_cast<std::size_t>(depth_at(kernel, i)), '|'), operation.text);
  }
  return text;
}

}  // namespace tessera::sass
