// Draws the tiles of one block: A on the left, B above, and D where their rows and columns cross.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lab/draw/pieces.h"
#include "lab/draw/svg.h"

namespace tessera::lab {
namespace {

using svg::box, svg::text;

constexpr double kTile = 160, kThinnest = 10, kThickest = 44, kGap = 14, kAxis = 30;

// Neighbouring outputs in one row: all of the drawn lane (is_own), or all of the other lanes.
struct Run {
  std::int64_t first = 0, last = 0;
  bool is_own = false;
  friend bool operator==(const Run&, const Run&) = default;
};

// Returns the outputs in each row of the block's tile as ranges. Outputs of other tiles are left
// out.
std::map<std::int64_t, std::vector<Run>> runs_by_row(const KernelPicture& picture) {
  const BlockTile& block = picture.block;
  std::map<std::int64_t, std::map<std::int64_t, bool>> cells;
  if (picture.outputs.empty()) return {};
  const std::int64_t row = picture.outputs.front().row / block.m * block.m;
  const std::int64_t col = picture.outputs.front().col / block.n * block.n;
  const std::uint32_t own = picture.outputs.front().lane;
  for (const DrawnOutput& output : picture.outputs) {
    const std::int64_t r = output.row - row, c = output.col - col;
    if (r < 0 || r >= block.m || c < 0 || c >= block.n) continue;
    cells[r][c] |= output.lane == own;
  }
  std::map<std::int64_t, std::vector<Run>> rows;
  for (const auto& [r, columns] : cells) {
    for (const auto& [c, is_own] : columns) {
      std::vector<Run>& runs = rows[r];
      if (!runs.empty() && runs.back().last + 1 == c && runs.back().is_own == is_own) {
        runs.back().last = c;
      } else {
        runs.push_back({c, c, is_own});
      }
    }
  }
  return rows;
}

// Draws the outputs. Consecutive equal rows become one box.
std::string draw_outputs(const KernelPicture& picture, double scale) {
  const auto rows = runs_by_row(picture);
  std::string inside;
  for (auto row = rows.begin(); row != rows.end();) {
    auto end = std::next(row);
    std::int64_t count = 1;
    while (end != rows.end() && end->first == row->first + count && end->second == row->second) {
      ++end, ++count;
    }
    for (const Run& run : row->second) {
      inside += box(static_cast<double>(run.first) * scale, static_cast<double>(row->first) * scale,
                    static_cast<double>(run.last - run.first + 1) * scale,
                    static_cast<double>(count) * scale, run.is_own ? "own" : "hit");
    }
    row = end;
  }
  return inside;
}

// Returns the rows of A (if `rows`), or the columns of B, that the warp needs to compute its
// outputs; if `of_lane`, those that the drawn lane needs.
std::set<std::int64_t> needed(const KernelPicture& picture, bool rows, bool of_lane) {
  std::set<std::int64_t> all;
  for (const auto& [row, runs] : runs_by_row(picture)) {
    for (const Run& run : runs) {
      if (of_lane && !run.is_own) continue;
      if (rows) all.insert(row);
      for (std::int64_t col = run.first; !rows && col <= run.last; ++col) all.insert(col);
    }
  }
  return all;
}

std::string draw_needed(const std::set<std::int64_t>& places, bool rows, double scale, double thick,
                        const char* look) {
  std::string inside;
  for (auto place = places.begin(); place != places.end();) {
    auto end = place;
    std::int64_t count = 0;
    while (end != places.end() && *end == *place + count) ++end, ++count;
    const double from = static_cast<double>(*place) * scale,
                 length = static_cast<double>(count) * scale;
    inside += rows ? box(0, from, thick, length, look) : box(from, 0, length, thick, look);
    place = end;
  }
  return inside;
}

// Draws an operand's tile at the origin.
std::string draw_strip(const KernelPicture& picture, bool is_a, double scale, double thick) {
  const BlockTile& block = picture.block;
  const double width = is_a ? thick : static_cast<double>(block.n) * scale;
  const double height = is_a ? static_cast<double>(block.m) * scale : thick;
  return box(0, 0, width, height, "idle") +
         draw_needed(needed(picture, is_a, false), is_a, scale, thick, "hit") +
         draw_needed(needed(picture, is_a, true), is_a, scale, thick, "own") +
         box(0, 0, width, height, "frame");
}

std::int64_t outputs(const KernelPicture& picture, bool of_lane) {
  std::int64_t count = 0;
  for (const auto& [row, runs] : runs_by_row(picture)) {
    for (const Run& run : runs) count += of_lane && !run.is_own ? 0 : run.last - run.first + 1;
  }
  return count;
}

Piece legend(const KernelPicture& picture, double width) {
  const BlockTile& block = picture.block;
  Piece all{"", 12};
  const auto entry = [&](const char* look, const std::string& words) {
    const Piece lines = paragraph(words, width - 22, kBody);
    all.inside += box(0, all.height - 11, 13, 13, look) + svg::moved(22, all.height, lines.inside);
    all.height += lines.height + 5;
  };
  entry("idle",
        fmt::format("one block of {} threads: {} x {} of D", picture.threads, block.m, block.n));
  entry("hit", fmt::format("warp {}: {} of D, and the rows of A and columns of B for it",
                           picture.warp, plural(outputs(picture, false), "element")));
  entry("own", fmt::format("one of its 32 lanes: {}", plural(outputs(picture, true), "element")));
  const Piece rest = paragraph(
      fmt::format(
          "D's memory runs from left to right.{}",
          block.k > 1 ? fmt::format(" The block walks along k in steps of {}.", block.k) : ""),
      width, kSoft);
  all.inside += svg::moved(0, all.height, rest.inside);
  all.height += rest.height;
  return all;
}

}  // namespace

Piece draw_tile(const KernelPicture& picture) {
  const BlockTile& block = picture.block;
  const double scale = kTile / static_cast<double>(std::max(block.m, block.n));
  const double width = static_cast<double>(block.n) * scale,
               height = static_cast<double>(block.m) * scale;
  const double thick = std::clamp(static_cast<double>(block.k) * scale, kThinnest, kThickest);
  const double x_a = kAxis, x_d = x_a + thick + kGap, y_b = 14 + kAxis, y_d = y_b + thick + kGap;
  std::string inside = text(0, 0, "Who computes what", kHead);
  inside += svg::moved(x_a, y_d, draw_strip(picture, true, scale, thick));
  inside += svg::moved(x_d, y_b, draw_strip(picture, false, scale, thick));
  inside += svg::moved(x_d, y_d,
                       box(0, 0, width, height, "idle") + draw_outputs(picture, scale) +
                           box(0, 0, width, height, "frame"));
  inside += svg::arrow(x_d, y_b - 9, x_d + 40, y_b - 9) + text(x_d + 48, y_b - 5, "n", kSoft);
  inside += svg::arrow(x_a - 9, y_d, x_a - 9, y_d + 40) + text(x_a - 17, y_d + 56, "m", kSoft);
  inside += svg::arrow(x_a, y_d - 7, x_a + thick, y_d - 7) +
            svg::arrow(x_d - 7, y_b, x_d - 7, y_b + thick) + text(x_d - 23, y_d - 14, "k", kSoft);
  inside += text(x_a + thick / 2 - 5, y_d + height + 18, "A", kBody) +
            text(x_d + width / 2 - 5, y_d + height + 18, "D", kBody) +
            text(x_d + width + 7, y_b + thick / 2 + 5, "B", kBody);
  double below = y_d + height + 20;
  if (picture.is_exchanged) {
    inside += text(0, below + 18, "A: the call's B. B: the call's A.", kSoft);
    below += 22;
  }
  const double x_legend = kAxis + kThickest + kGap + kTile + 30;
  const Piece right = legend(picture, kInside - x_legend);
  inside += svg::moved(x_legend, y_b, right.inside);
  return {inside, std::max(below, y_b + right.height)};
}

}  // namespace tessera::lab
