#include <fmt/format.h>

#include <algorithm>

#include "sass/report/published.h"
#include "sass/report/report.h"
#include "sass/report/report_parts.h"

namespace tessera::sass {
namespace {

constexpr std::size_t kWidth = 98;

std::string head(const KernelReport& kernel) {
  return fmt::format("{}  (sm_{}, {} instructions)\n{}\n", readable(kernel.name), kernel.sm,
                     kernel.code.size() - kernel.mix.of("NOP"), wrapped(resources(kernel), kWidth));
}

std::string loop_table(const KernelReport& kernel) {
  std::vector<std::vector<std::string>> rows = {{"loop", "instructions", "FFMA", "share", "ceiling",
                                                 "with ports", "bubbles", "crowded", "LDS", "LDG",
                                                 "stalls"}};
  for (const LoopReport& loop : kernel.loops) {
    const int sm = kernel.sm;
    rows.push_back({std::string(2 * static_cast<std::size_t>(loop.depth - 1), ' ') +
                        fmt::format("{:#06x}-{:#06x}", loop.begin, loop.end) +
                        (&loop == kernel.main_loop() ? " *" : ""),
                    std::to_string(loop.slots()), number(loop.mix[Kind::kFfma]),
                    percent(loop.ffma_share()), percent(loop.ceiling(sm)),
                    percent(loop.port_ceiling(sm)), rounded(loop.ports.bubbles),
                    rounded(loop.ports.crowded), number(loop.mix[Kind::kSharedLoad]),
                    number(loop.mix[Kind::kGlobalLoad]), std::to_string(loop.stalls)});
  }
  return aligned(rows) +
         "Ceiling: share of peak when every issue slot is used; with ports: by the port model.\n";
}

std::string mix_table(const LoopReport& loop) {
  std::vector<std::vector<std::string>> rows = {{"issue slots", "", "share", "spent on"}};
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (loop.mix[kind] == 0) continue;
    rows.push_back({std::string(name_of(kind)), std::to_string(loop.mix[kind]),
                    percent(static_cast<double>(loop.mix[kind]) / loop.slots()),
                    names_of(loop.mix, kind)});
  }
  return aligned(rows, kWidth);
}

std::string published_table(const LoopReport& loop) {
  const double factor = 512.0 / std::max(1, loop.mix[Kind::kFfma]);
  std::vector<std::vector<std::string>> rows = {
      {"operations", "this loop", "per 512 FFMA", "maxas, Maxwell", "a compiler's, Volta"}};
  for (const PublishedRow& row : kPublishedLoops) {
    const int count = count_of_stems(loop.mix, row.stems);
    rows.push_back({std::string(row.what), number(count), rounded(count * factor),
                    std::string(row.maxas), std::string(row.volta)});
  }
  return aligned(rows);
}

}  // namespace

std::string render(const KernelReport& kernel, const std::vector<Note>& notes) {
  std::string text = head(kernel);
  for (const Note& note : notes) text += wrapped(note.name + ": " + note.text, kWidth) + "\n";
  if (!kernel.unknown.empty()) {
    text += wrapped("Opcodes that our table lacks: " +
                        fmt::format("{}", fmt::join(kernel.unknown, ", ")),
                    kWidth) +
            "\n";
  }
  if (kernel.loops.empty()) return text + "No loops.\n";
  text += "\n" + loop_table(kernel);
  const LoopReport* loop = kernel.main_loop();
  if (!loop) return text + "No loop multiplies.\n";
  text +=
      fmt::format("\nLoop {:#06x}-{:#06x} *\n\n", loop->begin, loop->end) + mix_table(*loop) + "\n";
  for (const Fact& fact : facts_of(kernel, *loop)) {
    text += wrapped(fact.name + ": " + fact.text, kWidth) + "\n";
  }
  if (loop->mix[Kind::kFfma] >= 256) text += "\n" + published_table(*loop);
  return text + "\n" + wrapped(verdict(kernel, *loop), kWidth) + "\n";
}

std::string render_diff(const KernelReport& before, const KernelReport& after) {
  const LoopReport *a = before.main_loop(), *b = after.main_loop();
  std::vector<std::vector<std::string>> rows = {{"", before.name, after.name, "change"}};
  const auto add = [&](const std::string& what, double x, double y, bool is_share = false) {
    if (x == 0 && y == 0) return;
    rows.push_back({what, is_share ? percent(x) : rounded(x), is_share ? percent(y) : rounded(y),
                    change(x, y, is_share)});
  };
  add("instructions", static_cast<double>(before.code.size()),
      static_cast<double>(after.code.size()));
  add("registers", before.registers, after.registers);
  add("static shared bytes", static_cast<double>(before.shared_bytes),
      static_cast<double>(after.shared_bytes));
  add("stack bytes", static_cast<double>(before.local_bytes),
      static_cast<double>(after.local_bytes));
  if (!a || !b) return aligned(rows) + "One of them has no loop that multiplies.\n";
  rows.push_back({"-- main loop", "", "", ""});
  add("issue slots", a->slots(), b->slots());
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    add("  " + std::string(name_of(kind)), a->mix[kind], b->mix[kind]);
  }
  add("FFMA share", a->ffma_share(), b->ffma_share(), true);
  add("ceiling", a->ceiling(before.sm), b->ceiling(after.sm), true);
  add("with ports (model)", a->port_ceiling(before.sm), b->port_ceiling(after.sm), true);
  add("bubbles (model)", a->ports.bubbles, b->ports.bubbles);
  add("crowded FFMAs (model)", a->ports.crowded, b->ports.crowded);
  add("reads an FFMA (model)", a->ports.reads_per_ffma(), b->ports.reads_per_ffma());
  add("reuse flags", a->reuse_flags, b->reuse_flags);
  add("stall sum", a->stalls, b->stalls);
  rows.push_back({"-- by name", "", "", ""});
  for (const std::string& name : all_names(a->mix, b->mix)) {
    const int x = a->mix.of(name), y = b->mix.of(name);
    if (x != y) add("  " + name, x, y);
  }
  return aligned(rows) + changed_instructions(before, after);
}

}  // namespace tessera::sass
