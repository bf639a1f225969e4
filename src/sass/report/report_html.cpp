// Writes a self-contained HTML page: no scripts, no other files.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sass/report/report.h"
#include "sass/report/report_parts.h"

namespace tessera::sass {
namespace {

constexpr std::string_view kStyle = R"(
:root { --ink: #1d2330; --soft: #687087; --line: #e3e6ee; --page: #f7f8fb; --card: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9f2; --soft: #98a0b8; --line: #2c3346; --page: #12151e; --card: #1a1f2c; }
}
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 4rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35rem; overflow-wrap: anywhere; margin: 2rem 0 .2rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
p { max-width: 60rem; margin: .3rem 0; }
.soft { color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .6rem 1rem; min-width: 8rem; }
.card b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: .8rem; }
.verdict { border-left: 4px solid #3d7bfd; background: var(--card); padding: .6rem 1rem;
  border-radius: 0 .5rem .5rem 0; margin: 1rem 0; }
.bar { display: flex; height: 1.9rem; border-radius: .5rem; overflow: hidden; margin: .4rem 0; }
.bar i { display: block; min-width: 2px; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; color: var(--soft); }
.key i { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem;
  margin-right: .35rem; vertical-align: -.1rem; }
dl { display: grid; grid-template-columns: 7rem 1fr; gap: .25rem .8rem; }
dt { color: var(--soft); } dd { margin: 0; }
details { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  margin: .6rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; }
.code { overflow-x: auto; font: 12px/1.45 ui-monospace, Menlo, Consolas, monospace; }
.code table { border-collapse: collapse; white-space: pre; }
.code td { padding: 0 .7rem 0 0; }
.code td:nth-child(-n+3) { color: var(--soft); }
.code tr:hover { outline: 1px solid var(--soft); }
.k { border-left: 5px solid; padding-left: .5rem !important; }
)";

constexpr std::array<std::string_view, kKinds> kColours = {
    "#2f9e62", "#1f7a8c", "#7b4fd6", "#7cc576", "#3d7bfd", "#6f9bff",
    "#e07a2f", "#eba36b", "#c4529b", "#d33c3c", "#a06cc9", "#a9adb9",
    "#c3c7d1", "#8c93a6", "#b98f4a", "#5c6274", "#d9dce3"};

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += letter;
    }
  }
  return safe;
}

std::string_view colour_of(Kind kind) { return kColours[static_cast<int>(kind)]; }

std::string card(std::string_view value, std::string_view label) {
  return fmt::format("<div class=card><b>{}</b><span>{}</span></div>", escaped(value),
                     escaped(label));
}

std::string cards(const KernelReport& kernel, const LoopReport& loop) {
  std::string text =
      "<div class=cards>" + card(std::to_string(loop.slots()), "issue slots an iteration");
  if (loop.mix[Kind::kFfma] > 0) {
    text += card(std::to_string(loop.mix[Kind::kFfma]), "FFMAs") +
            card(percent(loop.ceiling(kernel.sm)), "issue ceiling") +
            card(percent(loop.port_ceiling(kernel.sm)), "with register ports (model)") +
            card(rounded(loop.ports.bubbles), "bubbles (model)") +
            card(rounded(loop.ports.crowded), "crowded FFMAs (model)") +
            card(rounded(loop.ports.reads_per_ffma()), "register reads an FFMA (model)");
  } else {
    text += card(std::to_string(loop.multiplies()), "multiplies");
  }
  return text + card(std::to_string(kernel.registers), "registers a thread") + "</div>";
}

// Returns the uses of the issue slots as one bar with a legend.
std::string bar(const LoopReport& loop) {
  std::string stripes, key;
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (loop.mix[kind] == 0) continue;
    const std::string names = escaped(names_of(loop.mix, kind));
    stripes += fmt::format("<i style='flex:{};background:{}' title='{}'></i>", loop.mix[kind],
                           colour_of(kind), names);
    key += fmt::format("<span title='{}'><i style='background:{}'></i>{} {}</span>", names,
                       colour_of(kind), name_of(kind), loop.mix[kind]);
  }
  return "<div class=bar>" + stripes + "</div><div class=key>" + key + "</div>";
}

std::string facts(const KernelReport& kernel, const LoopReport& loop) {
  std::string text = "<dl>";
  for (const Fact& fact : facts_of(kernel, loop)) {
    text += "<dt>" + escaped(fact.name) + "</dt><dd>" + escaped(fact.text) + "</dd>";
  }
  return text + "</dl>";
}

// Returns a colour for the cycles beyond the issue slot: red for cycles lost to ports, amber for
// stalls.
std::string heat(const KernelReport& kernel, std::size_t index) {
  const double bubbles = kernel.bubbles_at(index);
  if (bubbles > 0) {
    return fmt::format("rgba(221,60,60,{:.2f})", std::min(.75, .25 + .25 * bubbles));
  }
  const int stall = kernel.operations[index].control.stall;
  return stall <= 1 ? std::string("transparent")
                    : fmt::format("rgba(240,170,40,{:.2f})", std::min(.45, .04 * stall));
}

std::string row(const KernelReport& kernel, std::size_t index) {
  const Operation& operation = kernel.operations[index];
  const double bubbles = kernel.bubbles_at(index);
  return fmt::format(
      "<tr style='background:{}'><td>{:#06x}</td><td>{}</td><td>{}</td><td class=k "
      "style='border-color:{}'>{}</td></tr>\n",
      heat(kernel, index), index * kInstructionBytes, control_columns(operation.control),
      bubbles == 0 ? "" : "+" + rounded(bubbles), colour_of(kind_of(kernel.code[index], operation)),
      escaped(operation.text));
}

std::string code(const KernelReport& kernel, const std::vector<std::size_t>& members,
                 const std::string& title, bool is_open) {
  std::string text = fmt::format("<details{}><summary>{}</summary><div class=code><table>",
                                 is_open ? " open" : "", escaped(title));
  for (const std::size_t index : members) text += row(kernel, index);
  return text + "</table></div></details>";
}

std::string section(const KernelReport& kernel, const std::vector<Note>& notes) {
  std::string text = "<h1>" + escaped(readable(kernel.name)) + "</h1><p class=soft>sm_" +
                     std::to_string(kernel.sm) + ". " + escaped(resources(kernel)) + "</p>";
  for (const Note& note : notes) {
    text += "<p class=soft>" + escaped(note.name + ": " + note.text) + "</p>";
  }
  const LoopReport* main = kernel.main_loop();
  if (main) {
    text +=
        fmt::format("<h2>The loop that multiplies, {:#06x}-{:#06x}</h2>", main->begin, main->end);
    text += cards(kernel, *main) + bar(*main) + "<p class=verdict>" +
            escaped(verdict(kernel, *main)) + "</p>" + facts(kernel, *main);
  }
  text +=
      "<h2>Code</h2><p class=soft>Address; stall, yield, scoreboards set for results (w) and "
      "sources (r), scoreboards awaited, operands kept for reuse; bubbles of the port model. Red: "
      "bubbles, amber: stalls.</p>";
  for (const LoopReport& loop : kernel.loops) {
    text += code(kernel, loop.members,
                 fmt::format("Loop {:#06x}-{:#06x}, depth {}: {} instructions, {} FFMA", loop.begin,
                             loop.end, loop.depth, loop.slots(), loop.mix[Kind::kFfma]),
                 &loop == main);
  }
  std::vector<std::size_t> all(kernel.code.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return text +
         code(kernel, all, fmt::format("The whole kernel: {} instructions", all.size()), false);
}

}  // namespace

std::string html_page(const std::vector<KernelReport>& kernels,
                      const std::vector<std::vector<Note>>& notes) {
  const std::string title = kernels.empty() ? "machine code" : kernels.front().name;
  std::string page =
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content='width=device-width'><title>" +
      escaped(title) + "</title><style>" + std::string(kStyle) + "</style><body>";
  for (std::size_t i = 0; i < kernels.size(); ++i) page += section(kernels[i], notes[i]);
  return page + "</body></html>\n";
}

}  // namespace tessera::sass
