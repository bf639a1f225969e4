// Loads from shared memory among multiply-adds: when does one cost more than its slot? By the
// places that the lanes read, by width, by the banks of the results around them.
#include <fmt/format.h>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {
namespace {

Pattern lanes(const std::string& name, unsigned (*place)(unsigned lane)) {
  Pattern pattern{name, {}};
  for (unsigned lane = 0; lane < 32; ++lane) pattern.offset[lane] = 16 * place(lane);
  return pattern;
}

std::vector<Pattern> patterns() {
  return {places(1),
          places(2),
          places(4),
          places(8),
          places(16),
          places(32),
          lanes("8 places in turn", [](unsigned lane) { return lane % 8; }),
          lanes("4 places in turn", [](unsigned lane) { return lane % 4; }),
          lanes("2 places in turn", [](unsigned lane) { return lane % 2; }),
          lanes("16 places in turn", [](unsigned lane) { return lane % 16; }),
          lanes("fragment by lane % 16 / 2", [](unsigned lane) { return lane % 16 / 2; }),
          lanes("fragment by lane / 16 * 2 + lane % 2",
                [](unsigned lane) { return lane / 16 * 2 + lane % 2; })};
}

enum class Results { kBoth, kEven, kOdd };

// FFMAs that read one register each.
Code light(int count, Results results) {
  std::vector<Fma> fmas;
  for (int i = 0; i < count; ++i) {
    const int d =
        results == Results::kBoth ? 32 + i % 8 : 32 + 2 * (i % 8) + (results == Results::kOdd);
    fmas.push_back({d, 16, 18, d, kA | kB});
  }
  return encode(fmas);
}

sass::Instruction load(int bits, int address = kOffsetOdd, bool yields = false) {
  return with_control(sass::lds(bits, 52, address, kSharedBase),
                      {.stall = 1, .yields = yields, .write_scoreboard = 0});
}

// One after every `apart` FFMAs.
Code with_loads(const Code& fmas, int apart, const sass::Instruction& load) {
  Code code;
  for (std::size_t i = 0; i < fmas.size(); ++i) {
    code.push_back(fmas[i]);
    if ((i + 1) % apart == 0) code.push_back(load);
  }
  return code;
}

void add_block(std::vector<Sequence>& all, const Pattern& pattern, int rows, bool yields) {
  Code fmas = encode(good_block(rows, 8));
  const int loads = (rows + 8) / 4;
  const bool is_wide = rows > 8;
  sass::Instruction one = sass::lds(128, is_wide ? 176 : 96, kOffsetOdd, kSharedBase);
  one = with_control(one, {.stall = 1, .yields = yields, .write_scoreboard = 0});
  all.push_back({"loads",
                 fmt::format("{}x8, 2x2, {} LDS.128{}, {}", rows, loads,
                             yields ? " that yield" : "", pattern.name),
                 with_loads(fmas, static_cast<int>(fmas.size()) / loads, one),
                 {},
                 is_wide ? &wide_frame() : &middle_frame(),
                 pattern});
}

}  // namespace

std::vector<Sequence> load_sequences() {
  std::vector<Sequence> all;
  for (const Pattern& pattern : patterns()) {
    for (int apart : {16, 21, 32}) {
      all.push_back({"loads",
                     fmt::format("LDS.128 every {} FFMA, {}", apart, pattern.name),
                     with_loads(light(2 * apart, Results::kBoth), apart, load(128)),
                     {},
                     &narrow_frame(),
                     pattern});
    }
    all.push_back({"loads",
                   fmt::format("LDS.64 every 16 FFMA, {}", pattern.name),
                   with_loads(light(32, Results::kBoth), 16, load(64)),
                   {},
                   &narrow_frame(),
                   pattern});
    add_block(all, pattern, 8, false);
    add_block(all, pattern, 16, false);
  }
  for (const Results results : {Results::kEven, Results::kOdd}) {
    const char* name = results == Results::kEven ? "even" : "odd";
    for (int count : {1, 8, 32}) {
      all.push_back({"loads",
                     fmt::format("LDS.128 every 16 FFMA, results {}, {}", name, places(count).name),
                     with_loads(light(32, results), 16, load(128)),
                     {},
                     &narrow_frame(),
                     places(count)});
    }
  }
  // The same among instructions that write nothing: is it the results that collide?
  for (int count : {1, 8, 32}) {
    all.push_back({"loads",
                   fmt::format("LDS.128 every 16 NOP, {}", places(count).name),
                   with_loads(times({sass::nop()}, 32), 16, load(128)),
                   {},
                   &narrow_frame(),
                   places(count)});
    const Code silent = times({sass::ffma(sass::kZeroRegister, 16, 17, sass::kZeroRegister)}, 32);
    all.push_back({"loads",
                   fmt::format("LDS.128 every 16 FFMA without results, {}", places(count).name),
                   with_loads(silent, 16, load(128)),
                   {},
                   &narrow_frame(),
                   places(count)});
  }
  for (int count : {1, 8, 32}) {
    add_block(all, places(count), 8, true);
    add_block(all, places(count), 16, true);
  }
  return all;
}

// A yield here and there lets warps of one sub-core run side by side, so that they fetch the same
// instructions; what does it cost, and how many does it take?
std::vector<Sequence> yield_sequences() {
  std::vector<Sequence> all;
  for (const int rows : {8, 16}) {
    const std::vector<Fma> fmas = good_block(rows, 8);
    for (const std::size_t apart : {0, 4, 8, 16, 32, 64, 128}) {
      for (const int stall : {1, 2}) {
        if (apart > fmas.size() || (apart == 0 && stall == 2)) continue;
        Code code = encode(fmas);
        for (std::size_t i = apart; apart != 0 && i <= code.size(); i += apart) {
          code[i - 1] = with_control(code[i - 1], {.stall = stall, .yields = true});
        }
        all.push_back(
            {"yields",
             apart == 0 ? fmt::format("{}x8, 2x2, none yields", rows)
                        : fmt::format("{}x8, 2x2, one of {} yields, stall {}", rows, apart, stall),
             code,
             {},
             rows > 8 ? &wide_frame() : &middle_frame()});
      }
    }
  }
  for (const int count : {1, 2, 7, 8, 9, 15, 16, 17}) {
    Code code;
    for (int turn = 0; turn < 4; ++turn) {
      code = code + light(count, Results::kBoth);
      code.push_back(sass::imad(52, 21, sass::kZeroRegister, sass::kZeroRegister));
    }
    all.push_back({"yields", fmt::format("IMAD every {} FFMA", count), code});
  }
  return all;
}

}  // namespace tessera::calibration
