// Describes and draws the threads that use a word: a map of the block's threads for each group of
// equal phases.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/draw/element.h"
#include "lab/draw/pieces.h"
#include "lab/draw/svg.h"
#include "lab/record/record.h"

namespace tessera::lab {
namespace {

// Phases in which the same threads write and read the word. `members` are the phases' numbers.
struct Group {
  const ElementPhase* phase;
  std::vector<std::uint64_t> members;  // iterations, or blocks
};

std::vector<Group> groups_of(const ElementUse& use) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < use.phases.size(); ++i) {
    const std::uint64_t member = use.blocks.empty() ? i : use.blocks[i];
    const auto same = std::ranges::find_if(
        groups, [&](const Group& group) { return *group.phase == use.phases[i]; });
    if (same == groups.end()) {
      groups.push_back({&use.phases[i], {member}});
    } else {
      same->members.push_back(member);
    }
  }
  return groups;
}

// Returns a list of numbers: "0 to 7", "0, 16, 32, 48", "0, 2, 4, ... 62 (32 of them)".
std::string list_of(const std::vector<std::uint64_t>& numbers) {
  const std::size_t count = numbers.size();
  if (count > 2 && numbers.back() - numbers.front() + 1 == count) {
    return fmt::format("{} to {}", numbers.front(), numbers.back());
  }
  if (count <= 8) return fmt::format("{}", fmt::join(numbers, ", "));
  return fmt::format("{}, {}, {}, ... {} ({} of them)", numbers[0], numbers[1], numbers[2],
                     numbers.back(), count);
}

std::string members_of(const ElementUse& use, const Group& group) {
  const bool is_one = group.members.size() == 1;
  const char* const word = use.blocks.empty() ? "iteration" : "block";
  return fmt::format("{}{} {}", word, is_one ? "" : "s", list_of(group.members));
}

std::string times(int count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

// Returns the threads in words: "thread 167 (warp 5, lane 7)", "32 threads: 160 to 191".
std::string threads_of(const std::vector<std::uint64_t>& threads) {
  if (threads.size() == 1) {
    return fmt::format("thread {} (warp {}, lane {})", threads[0], threads[0] / 32,
                       threads[0] % 32);
  }
  return fmt::format("{} threads: {}", threads.size(), list_of(threads));
}

std::string writers_of(const ElementPhase& phase) {
  std::vector<std::uint64_t> threads;
  for (const int thread : phase.writers) {
    if (thread == kCopyEngine) return "a bulk copy";
    threads.push_back(static_cast<std::uint64_t>(thread));
  }
  return threads.empty() ? "nobody" : threads_of(threads);
}

std::string readers_of(const ElementPhase& phase) {
  std::vector<std::uint64_t> threads;
  int fewest = 0, most = 0;
  for (const auto& [thread, count] : phase.readers) {
    if (thread == kCopyEngine) return "a bulk copy";
    threads.push_back(static_cast<std::uint64_t>(thread));
    fewest = threads.size() == 1 ? count : std::min(fewest, count);
    most = std::max(most, count);
  }
  if (threads.empty()) return "nobody";
  const std::string often =
      fewest == most ? times(most) : fmt::format("{} to {} times", fewest, most);
  return fmt::format("{}, {}{}", threads_of(threads), often, threads.size() == 1 ? "" : " each");
}

char mark_of(const ElementPhase& phase, int thread) {
  const bool writes = phase.writers.contains(thread), reads = phase.readers.contains(thread);
  return writes && reads ? 'B' : writes ? 'W' : reads ? 'r' : '.';
}

// Returns a map with a line for each row of threads. Long sequences of rows without accesses are
// left out.
std::string map_of(const ElementUse& use, const ElementPhase& phase) {
  std::string map, skipped = fmt::format("{:>8}\n", "...");
  const int rows = (use.threads + use.width - 1) / use.width;
  bool is_skipping = false;
  for (int row = 0; row < rows; ++row) {
    std::string marks;
    for (int x = 0; x < use.width && row * use.width + x < use.threads; ++x) {
      marks += mark_of(phase, row * use.width + x);
    }
    const bool is_empty = marks.find_first_not_of('.') == std::string::npos;
    if (is_empty && rows > 16) {
      if (!is_skipping) map += skipped;
      is_skipping = true;
      continue;
    }
    is_skipping = false;
    map += fmt::format("{:>8} {}\n", row * use.width, marks);
  }
  return map;
}

std::string title_of(const ElementUse& use) {
  const Problem& p = use.problem;
  return fmt::format("{} of {}/{}, {} x {} x {}, {}-major {}", use.element.text, use.kernel,
                     use.config, p.m, p.n, p.k, p.order == Order::kRowMajor ? "row" : "column",
                     layout_of(p));
}

std::string where_of(const ElementUse& use) {
  if (use.element.is_operand()) {
    return fmt::format("touched by {} of {} blocks", use.blocks.size(), use.ctas);
  }
  return fmt::format("byte {} of the shared memory of block 0, written {}", use.address,
                     times(static_cast<int>(use.phases.size())));
}

Json group_json(const ElementUse& use, const Group& group) {
  Json readers = Json::object();
  for (const auto& [thread, count] : group.phase->readers) readers[std::to_string(thread)] = count;
  return {{use.blocks.empty() ? "iterations" : "blocks", group.members},
          {"writers", group.phase->writers},
          {"readers", std::move(readers)}};
}

}  // namespace

std::string render(const ElementUse& use) {
  std::string text = fmt::format("{}\n{}\n", title_of(use), where_of(use));
  if (!use.written_at.empty()) {
    text += fmt::format("  written at {}\n", fmt::join(use.written_at, ", "));
  }
  if (!use.read_at.empty()) text += fmt::format("  read at    {}\n", fmt::join(use.read_at, ", "));
  for (const Group& group : groups_of(use)) {
    text += fmt::format("\n{}\n  written by {}\n  read by    {}\n\n", members_of(use, group),
                        writers_of(*group.phase), readers_of(*group.phase));
    text += map_of(use, *group.phase);
  }
  if (use.phases.empty()) return text + "\nNobody touches it.\n";
  return text + fmt::format("\nThreads of the block, {} in a row: W writes, r reads, B both.\n",
                            use.width);
}

Table element_table(const ElementUse& use) {
  Table table{{"element", "where", "written by", "read by"}, {}};
  for (const Group& group : groups_of(use)) {
    table.rows.push_back({use.element.text, members_of(use, group), writers_of(*group.phase),
                          readers_of(*group.phase)});
  }
  return table;
}

Json to_json(const ElementUse& use) {
  Json groups = Json::array();
  for (const Group& group : groups_of(use)) groups.push_back(group_json(use, group));
  return {
      {"kernel", use.kernel},         {"config", use.config},   {"problem", to_json(use.problem)},
      {"element", use.element.text},  {"threads", use.threads}, {"blocks", use.ctas},
      {"written_at", use.written_at}, {"read_at", use.read_at}, {"phases", std::move(groups)}};
}

// Returns a sentence such as "One write serves 32 reads."
std::string conclusion_of(const ElementPhase& phase) {
  int reads = 0;
  for (const auto& [thread, count] : phase.readers) reads += count;
  const std::size_t writes = phase.writers.size();
  if (writes == 0) return fmt::format("It is read {} in a block.", times(reads));
  if (reads == 0) return "It is written and not read.";
  return fmt::format("{} serves {}.", writes == 1 ? "One write" : plural(writes, "write"),
                     plural(reads, "read"));
}

std::string element_svg(const ElementUse& use) {
  constexpr double kCell = 14, kLeft = 72, kTop = 190;
  const std::vector<Group> groups = groups_of(use);
  const int rows = (use.threads + use.width - 1) / use.width;
  const double width = std::max(kLeft + use.width * kCell + 24, 640.0);
  const double bottom = kTop + rows * kCell;
  std::string svg = svg::page(width, bottom + 56, "Who uses " + use.element.text);
  const char* const soft = "class=\"soft\" font-size=\"14\"";
  svg += svg::text(24, 36, use.element.text + " of " + use.kernel,
                   "class=\"ink\" font-size=\"20\" font-weight=\"700\"");
  if (groups.empty()) return svg + svg::text(24, 62, "Nobody touches it.", soft) + "</svg>\n";
  const ElementPhase& phase = *groups.front().phase;
  double y = 62;
  const auto entry = [&](const char* look, const std::string& words) {
    svg += svg::box(24, y - 11, 13, 13, look) + svg::text(46, y, words, soft);
    y += 22;
  };
  entry("own", "written by " + writers_of(phase));
  entry("hit", "read by " + readers_of(phase));
  bool has_both = false;
  for (const int thread : phase.writers) has_both = has_both || phase.readers.contains(thread);
  if (has_both) {
    entry("hit", "half and half: by this thread both");
    svg += svg::box(24, y - 33, 6.5, 13, "own");
  }
  svg += svg::text(
      24, y, fmt::format("{}; a box is a thread of the block", members_of(use, groups.front())),
      soft);
  const bool is_warp = use.width == 32;
  svg +=
      svg::text(kLeft, kTop - 12, is_warp ? "lane 0 to 31 of a warp" : "thread in its row", soft);
  svg += svg::arrow(kLeft + 178, kTop - 17, kLeft + 228, kTop - 17);
  svg += svg::text(24, kTop - 12, "thread", "class=\"soft\" font-size=\"12\"");
  for (int thread = 0; thread < use.threads; ++thread) {
    const double x = kLeft + thread % use.width * kCell;
    const double top = kTop + thread / use.width * kCell;
    if (thread % use.width == 0 && thread / use.width % 4 == 0) {
      svg += svg::text(kLeft - 8, top + 11, std::to_string(thread),
                       "class=\"soft\" font-size=\"12\" text-anchor=\"end\"");
    }
    const char mark = mark_of(phase, thread);
    const char* const look = mark == '.' ? "idle" : mark == 'W' ? "own" : "hit";
    svg += svg::box(x, top, kCell - 2, kCell - 2, look);
    if (mark == 'B') svg += svg::box(x, top, kCell / 2 - 1, kCell - 2, "own");
  }
  svg += svg::text(24, bottom + 32, conclusion_of(phase),
                   "class=\"ink\" font-size=\"16\" font-weight=\"600\"");
  return svg + "</svg>\n";
}

}  // namespace tessera::lab
