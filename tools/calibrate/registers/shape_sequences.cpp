// Patterns by enumeration and by seed, for one warp alone: they hold the port model to account in
// places that nobody thought of. A shape says for each operand whether its register is even or odd,
// or that there is none: "eo-".
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tools/calibrate/registers/sequence.h"

namespace tessera::calibration {
namespace {

constexpr const char* kStates = "eo-";

std::string shape(int number) {
  return {kStates[number % 3], kStates[number / 3 % 3], kStates[number / 9]};
}

int source(char state, int first, int turn) {
  return state == '-' ? sass::kZeroRegister : first + 2 * (turn % 4) + (state == 'o');
}

// Sources from R16-R39, results in R40-R57: nothing is read that the pattern writes.
Sequence of_shapes(const std::vector<std::string>& shapes) {
  std::vector<Fma> fmas;
  std::string name;
  for (const std::string& s : shapes) {
    const int i = static_cast<int>(fmas.size());
    fmas.push_back({40 + i, source(s[0], 16, i), source(s[1], 24, i), source(s[2], 32, i)});
    name += (name.empty() ? "" : " ") + s;
  }
  return {"shapes", name, encode(fmas), {}, &alone_frame()};
}

// A and B in few registers with random flags; C fresh.
Sequence with_flags(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Fma> fmas;
  const int count = 2 + static_cast<int>(random() % 7);
  for (int i = 0; i < count; ++i) {
    const auto few = [&](int first) { return first + static_cast<int>(random() % 3); };
    fmas.push_back({40 + i, few(16), few(24), 32 + static_cast<int>(random() % 8),
                    static_cast<unsigned>(random() % 4)});
  }
  return {"flags", fmt::format("seed {}", seed), encode(fmas), {}, &alone_frame()};
}

// Accumulators in turn, from one to sixteen: how far behind its result an FFMA reads it.
void add_accumulators(std::vector<Sequence>& all) {
  const int operands[][2] = {{17, 18}, {16, 17}, {16, 18}, {17, 19}};
  for (const auto& ab : operands) {
    for (int count : {1, 2, 3, 4, 5, 6, 8, 12, 16}) {
      for (int step : {1, 2}) {
        if (count * step > 18) continue;
        std::vector<Fma> fmas;
        for (int i = 0; i < count; ++i) {
          fmas.push_back({40 + step * i, ab[0], ab[1], 40 + step * i});
        }
        all.push_back({"accumulators",
                       fmt::format("A R{}, B R{}, {} accumulators, every {}", ab[0], ab[1], count,
                                   step == 1 ? "register" : "second register"),
                       encode(fmas),
                       {},
                       &alone_frame()});
      }
    }
  }
}

}  // namespace

std::vector<Sequence> shape_sequences() {
  constexpr int kShapes = 27;
  std::vector<Sequence> all;
  for (int first = 0; first < kShapes; ++first) {
    for (int second = first; second < kShapes; ++second) {
      all.push_back(of_shapes({shape(first), shape(second)}));
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    std::vector<std::string> shapes(3 + random() % 5);
    for (std::string& s : shapes) {
      s = shape(static_cast<int>(random() % kShapes));
      if (i % 2 == 0) std::replace(s.begin(), s.end(), '-', random() % 2 ? 'e' : 'o');
    }
    all.push_back(of_shapes(shapes));
  }
  for (unsigned seed = 1; seed <= 300; ++seed) all.push_back(with_flags(seed));
  add_accumulators(all);
  return all;
}

}  // namespace tessera::calibration
