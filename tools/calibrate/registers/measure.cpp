#include "tools/calibrate/registers/measure.h"

#include <fmt/format.h>

#include "tools/calibrate/registers/image.h"
#include "tools/calibrate/registers/probes.h"
#include "tools/calibrate/registers/program.h"

namespace tessera::calibration {
namespace {

constexpr int kSubCores = 4;
constexpr int kShortLoop = 480, kLongLoop = 1440;  // instructions, about

std::string hex(const sass::Instruction& i) { return fmt::format("{:016x}{:016x}", i.high, i.low); }

std::string words(const Code& code) {
  std::string all;
  for (const auto& instruction : code) all += (all.empty() ? "" : " ") + hex(instruction);
  return all;
}

int copies_for(const Sequence& sequence, int instructions) {
  const int size = static_cast<int>(sequence.pattern.size());
  return (instructions + size - 1) / size;
}

// Cycles of one iteration of the loop.
Json loop_cycles(Bench& bench, const PatchedImage& image, const Sequence& sequence, int warps,
                 int iterations) {
  const Work work{.image = &image.image(),
                  .entry = sequence.frame->entry,
                  .pattern = sequence.lanes,
                  .warps = kSubCores * warps,
                  .iterations = iterations};
  const auto cycles = bench.cycles(work);
  return cycles ? Json(*cycles) : Json(nullptr);
}

Json row_of(const Sequence& sequence) {
  Json row = {{"experiment", sequence.experiment},
              {"name", sequence.name},
              {"instructions", sequence.pattern.size()},
              {"pattern", words(sequence.pattern)}};
  if (sequence.lanes.name != places(32).name) row["lanes"] = sequence.lanes.offset;
  if (!sequence.other.empty()) row["other"] = words(sequence.other);
  return row;
}

Json measure(Bench& bench, const Sequence& sequence) {
  const int few = copies_for(sequence, kShortLoop), many = copies_for(sequence, kLongLoop);
  const PatchedImage shorter(*sequence.frame, timed_program(sequence, few));
  const PatchedImage longer(*sequence.frame, timed_program(sequence, many));
  Json row = row_of(sequence);
  row["copies"] = {few, many};
  row["runs"] = Json::array();
  for (const int warps : sequence.frame->warps) {
    if (!sequence.other.empty() && warps != 2) continue;
    constexpr int kIterations = 16;
    const Json a = loop_cycles(bench, shorter, sequence, warps, kIterations);
    const Json b = loop_cycles(bench, longer, sequence, warps, kIterations);
    Json run = {{"warps", warps}, {"loops", {a, b}}};
    if (a.is_number() && b.is_number()) {
      run["cycles"] = (b.get<double>() - a.get<double>()) / (many - few);
    }
    row["runs"].push_back(run);
  }
  return row;
}

// FFMAs that read one register each: nothing but their number limits.
Code light_pattern() {
  std::vector<Fma> fmas;
  for (int i = 0; i < 8; ++i) fmas.push_back({20 + i, 16, 18, 20 + i, kA | kB});
  return encode(fmas);
}

Sequence loop_of(int instructions) {
  return {"loops",
          fmt::format("{} FFMA", instructions),
          light_pattern(),
          {},
          instructions > 3500 ? &long_frame() : &narrow_frame()};
}

constexpr int kLoops[] = {32,   64,   128,  192,  256,  288,  320,  352,  384,  512,  768,   1024,
                          1280, 1536, 1664, 1792, 1920, 2048, 3072, 4096, 6144, 8192, 12288, 16000};

}  // namespace

void measure_sequences(Bench& bench, const std::vector<Sequence>& sequences, Json& rows) {
  for (const Sequence& sequence : sequences) rows.push_back(measure(bench, sequence));
}

void measure_loops(Bench& bench, Json& rows) {
  for (const int instructions : kLoops) {
    const Sequence loop = loop_of(instructions);
    const PatchedImage image(*loop.frame, timed_program(loop, instructions / 8));
    for (const int ctas : {1, std::max(1, bench.device().info().sms)}) {
      for (const int warps : loop.frame->warps) {
        const Work work{.image = &image.image(),
                        .entry = loop.frame->entry,
                        .warps = kSubCores * warps,
                        .ctas = ctas,
                        .iterations = std::max(2, 16384 / instructions)};
        const auto cycles = bench.cycles(work);
        rows.push_back({{"instructions", instructions + kLoopInstructions},
                        {"ctas", ctas},
                        {"warps", warps},
                        {"cycles", cycles ? Json(*cycles) : Json(nullptr)}});
      }
    }
  }
}

void measure_constants(Bench& bench, Json& rows) {
  constexpr int kParameters = 0x210;
  for (const int c : {18, 19}) {
    const Code pattern = times(
        {sass::ffma_constant(40, 16, kParameters, c), sass::ffma_constant(41, 16, kParameters, c)},
        16);
    rows.push_back(measure(
        bench,
        {"constant", fmt::format("FFMA with a constant, A even, C {}", c % 2 ? "odd" : "even"),
         pattern}));
  }
}

int make_all_programs() {
  int made = 0;
  const auto make = [&](const Sequence& sequence, int copies) {
    const PatchedImage image(*sequence.frame, timed_program(sequence, copies));
    ++made;
  };
  for (const auto& all :
       {bank_sequences(), reuse_sequences(), block_sequences(), issue_sequences(),
        random_sequences(), shape_sequences(), load_sequences(), yield_sequences()}) {
    for (const Sequence& sequence : all) {
      make(sequence, copies_for(sequence, kShortLoop));
      make(sequence, copies_for(sequence, kLongLoop));
    }
  }
  for (const int instructions : kLoops) make(loop_of(instructions), instructions / 8);
  for (const DistanceProbe& probe : distance_probes()) {
    const PatchedImage image(narrow_frame(), probe_program(narrow_frame(), probe.code));
    ++made;
  }
  return made;
}

}  // namespace tessera::calibration
