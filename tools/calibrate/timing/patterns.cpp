#include "tools/calibrate/timing/patterns.h"

#include <fmt/format.h>

#include <random>
#include <set>

namespace tessera::calibration {
namespace {

constexpr unsigned kReach = 4096;  // bytes that a pattern may span

template <class Place>
Pattern pattern(std::string name, unsigned bytes, Place place) {
  Pattern made{std::move(name), {}};
  for (unsigned lane = 0; lane < 32; ++lane) made.offset[lane] = place(lane) * bytes;
  return made;
}

// `words` is how many different places there are to draw from.
Pattern random_pattern(unsigned bytes, unsigned words, unsigned seed) {
  std::mt19937 random(seed);
  return pattern(fmt::format("random {} of seed {}", words, seed), bytes,
                 [&](unsigned) { return random() % words; });
}

int distinct(const Pattern& pattern, unsigned unit) {
  std::set<unsigned> seen;
  for (unsigned offset : pattern.offset) seen.insert(offset / unit);
  return static_cast<int>(seen.size());
}

}  // namespace

int lines_of(const Pattern& pattern) { return distinct(pattern, 128); }
int sectors_of(const Pattern& pattern) { return distinct(pattern, 32); }

std::vector<Pattern> shared_patterns(unsigned bytes) {
  std::vector<Pattern> all;
  const auto add = [&](std::string name, auto place) {
    all.push_back(pattern(std::move(name), bytes, place));
  };
  for (unsigned stride = 1; stride * bytes <= 128; stride *= 2) {
    add(fmt::format("stride {}", stride), [=](unsigned lane) { return lane * stride; });
  }
  add("stride 3", [](unsigned lane) { return lane * 3; });
  add("stride 5", [](unsigned lane) { return lane * 5; });
  add("one place", [](unsigned) { return 0U; });
  for (unsigned group = 2; group <= 16; group *= 2) {
    add(fmt::format("{} lanes a place", group), [=](unsigned lane) { return lane / group; });
    add(fmt::format("{} places in turn", group), [=](unsigned lane) { return lane % group; });
  }
  add("lane and lane^2 alike", [](unsigned lane) { return lane % 2 + lane / 4 * 2; });
  add("lane and lane^4 alike", [](unsigned lane) { return lane % 4 + lane / 8 * 4; });
  add("lane and lane^8 alike", [](unsigned lane) { return lane % 8 + lane / 16 * 8; });
  add("pairs, but for the last", [](unsigned lane) { return lane == 31 ? 16U : lane / 2; });
  add("pairs that swap halves", [](unsigned lane) { return (lane / 2 + 8) % 16; });
  add("pairs of stride 2", [](unsigned lane) { return lane / 2 * 2; });
  add("fragment of A of rung 12", [](unsigned lane) { return lane % 16 / 2; });
  add("fragment of B of rung 12", [](unsigned lane) { return lane / 16 * 2 + lane % 2; });
  add("fragment of B of rung 09", [](unsigned lane) { return lane % 16 * 2; });
  add("two rows, same banks", [=](unsigned lane) { return lane % 16 + lane / 16 * 512 / bytes; });
  add("four rows, same banks", [=](unsigned lane) { return lane % 8 + lane / 8 * 512 / bytes; });
  add("eight rows, same banks", [=](unsigned lane) { return lane % 4 + lane / 4 * 512 / bytes; });
  for (unsigned seed = 1; seed <= 3; ++seed) {
    for (unsigned words : {8U, 16U, 32U, 64U, 128U, kReach / bytes}) {
      if (words * bytes <= kReach) all.push_back(random_pattern(bytes, words, seed));
    }
  }
  return all;
}

std::vector<Pattern> global_patterns(unsigned bytes) {
  std::vector<Pattern> all;
  const auto add = [&](std::string name, auto place) {
    all.push_back(pattern(std::move(name), bytes, place));
  };
  add("one place", [](unsigned) { return 0U; });
  for (unsigned stride = 1; stride * bytes <= 128; stride *= 2) {
    add(fmt::format("stride {}", stride), [=](unsigned lane) { return lane * stride; });
  }
  for (unsigned rows = 2; rows <= 16; rows *= 2) {  // side by side in each of several rows
    add(fmt::format("{} rows", rows), [=](unsigned lane) {
      return lane / (32 / rows) * (kReach / rows / bytes) + lane % (32 / rows);
    });
    add(fmt::format("{} rows, one place in each", rows),
        [=](unsigned lane) { return lane / (32 / rows) * (kReach / rows / bytes); });
  }
  add("4 rows of stride 4", [=](unsigned lane) {
    return lane / 8 * (1024 / bytes) + lane % 8 * (4 * bytes <= 128 ? 4 : 1);
  });
  add("8 lanes a place", [](unsigned lane) { return lane / 8; });
  add("8 places in turn", [](unsigned lane) { return lane % 8; });
  add("shifted by one", [](unsigned lane) { return lane + 1; });
  for (unsigned seed = 1; seed <= 2; ++seed) {
    for (unsigned words : {32U, 64U, kReach / bytes}) {
      all.push_back(random_pattern(bytes, words, seed));
    }
  }
  return all;
}

}  // namespace tessera::calibration
