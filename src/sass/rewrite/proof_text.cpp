// Describes a patch and its proof in text for people.
#include <cstdio>

#include "sass/model/latencies.h"
#include "sass/rewrite/patch.h"

namespace tessera::sass {
namespace {

std::string percent(double part, double whole) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f %%", whole == 0 ? 0 : 100 * part / whole);
  return text;
}

std::string line_of(const LoopChange& loop) {
  char text[320];
  std::snprintf(text, sizeof text,
                "  loop 0x%04zx-0x%04zx, %zu instructions, %d FFMA: cycles %.1f -> %.1f, bubbles "
                "%.1f -> %.1f, crowded FFMAs %.1f -> %.1f, reads an FFMA %.2f -> %.2f, FFMAs a "
                "cycle %s -> %s (model)\n",
                loop.begin, loop.end, loop.instructions, loop.after.ffmas, loop.before.cycles,
                loop.after.cycles, loop.before.bubbles, loop.after.bubbles, loop.before.crowded,
                loop.after.crowded, loop.before.reads_per_ffma(), loop.after.reads_per_ffma(),
                percent(loop.before.ffmas, loop.before.cycles).c_str(),
                percent(loop.after.ffmas, loop.after.cycles).c_str());
  return text;
}

}  // namespace

std::string proof_text(const PatchResult& result) {
  std::string text;
  for (const KernelPatch& kernel : result.kernels) {
    text += kernel.name + "\n";
    if (!kernel.left_alone.empty()) {
      text += "  left alone: " + kernel.left_alone + "\n";
      continue;
    }
    char line[240];
    std::snprintf(line, sizeof line,
                  "  %zu instructions moved in %zu stretches; length and all other bytes of the "
                  "file unchanged\n",
                  kernel.moved, kernel.regions);
    text += line;
    if (kernel.ranges > 0) {
      text += "  " + std::to_string(kernel.renamed) + " of " + std::to_string(kernel.ranges) +
              " live ranges have another register\n";
    }
    std::snprintf(line, sizeof line,
                  "  bitwise equal: %zu blocks, %zu expressions, %zu effects in the same order\n",
                  kernel.equality.blocks, kernel.equality.expressions, kernel.equality.effects);
    text += line;
    text += "  hazards: none on any path, by the distances of " +
            std::string(latencies_of(result.sm).source) + " for sm_" + std::to_string(result.sm) +
            "\n";
    for (const LoopChange& loop : kernel.loops) text += line_of(loop);
  }
  constexpr int kHasRun = 90;
  text += result.sm == kHasRun
              ? "proved, not run: docs/sass-patching.md says what has run on a GPU\n"
              : "proved, not run: patched code has run on sm_90 alone\n";
  return text;
}

}  // namespace tessera::sass
