// Draws a kernel's picture: three sections in a column, two columns for two kernels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "lab/draw/picture.h"
#include "lab/draw/svg.h"

namespace tessera::lab {
namespace {

using svg::box, svg::text;

constexpr double kColumn = 568, kMargin = 24, kTile = 168;
constexpr double kWordWidth = 5, kBankWidth = 7.5;
constexpr double kStripWidth = 32 * kWordWidth, kBanksWidth = 32 * kBankWidth;
constexpr const char* kHead = "class=\"ink\" font-size=\"16\" font-weight=\"600\"";
constexpr const char* kBody = "class=\"ink\" font-size=\"14\"";
constexpr const char* kSoft = "class=\"soft\" font-size=\"14\"";
constexpr const char* kAlarm = "class=\"clash\" font-size=\"14\" font-weight=\"600\"";

// A piece of the drawing, and how far down it reaches.
struct Piece {
  std::string inside;
  double height = 0;
};

std::string plural(std::int64_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// "05_conflict_free" -> "05 conflict free"
std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

// Neighbouring outputs of one row and one class.
struct Run {
  std::int64_t first = 0, last = 0;
  bool is_own = false;
  friend bool operator==(const Run&, const Run&) = default;
};

// The outputs by row of the block's tile, as runs; of other tiles none.
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

// Equal rows that follow each other are one box.
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

Piece draw_tile(const KernelPicture& picture) {
  const BlockTile& block = picture.block;
  const double scale = kTile / std::max(block.m, block.n);
  const double width = block.n * scale, height = block.m * scale;
  std::string inside = text(0, 0, "Who computes what", kHead);
  std::string tile = box(0, 0, width, height, "idle") + draw_outputs(picture, scale);
  inside += svg::moved(0, 14, tile + box(0, 0, width, height, "frame"));
  std::int64_t of_lane = 0, of_warp = 0;
  for (const auto& [row, runs] : runs_by_row(picture)) {
    for (const Run& run : runs) {
      of_warp += run.last - run.first + 1;
      of_lane += run.is_own ? run.last - run.first + 1 : 0;
    }
  }
  const double x = kTile + 24;
  const auto entry = [&](double y, const char* look, const std::string& words) {
    inside += box(x, y - 11, 13, 13, look) + text(x + 22, y, words, kBody);
  };
  entry(34, "idle",
        fmt::format("a block: {} x {} outputs, {} threads", block.m, block.n, picture.threads));
  entry(60, "hit", fmt::format("warp {}: {}", picture.warp, plural(of_warp, "output")));
  entry(86, "own", fmt::format("one lane: {}", plural(of_lane, "output")));
  inside += text(x, 112, "from left to right: neighbours in D's memory", kSoft);
  if (block.k > 1) inside += text(x, 134, fmt::format("k advances in steps of {}", block.k), kSoft);
  return {inside, 14 + std::max(height, 120.0)};
}

// The four sectors of a line, from left to right; words that were asked for are dark.
std::string draw_line(const DrawnLine& line, double y, double height) {
  std::string inside;
  for (int first = 0; first < 32;) {
    const auto look_of = [&](int word) {
      if (line.words >> word & 1) return "hit";
      return (line.words >> (word / 8 * 8) & 0xff) != 0 ? "moved" : "idle";
    };
    const char* const look = look_of(first);
    int end = first + 1;
    while (end < 32 && look_of(end) == look) ++end;
    inside += box(first * kWordWidth, y, (end - first) * kWordWidth, height, look);
    first = end;
  }
  return inside;
}

Piece draw_request(const DrawnRequest& request) {
  const std::size_t count = request.lines.size();
  const double height = count <= 8    ? 8
                        : count <= 16 ? 6
                                      : 3.6,
               step = height + (count <= 16 ? 2 : 1);
  std::string inside =
      text(0, 0, fmt::format("{} {}", request.is_store ? "store" : "load", request.name), kBody);
  inside += text(0, 19,
                 fmt::format("{}, {}", plural(request.sectors(), "sector"),
                             plural(static_cast<std::int64_t>(count), "line")),
                 kSoft);
  double y = 28;
  for (const DrawnLine& line : request.lines) {
    inside += draw_line(line, y, height);
    y += step;
  }
  return {inside, y};
}

std::string words_of(const DrawnBanks& banks, bool clashes) {
  const std::string wavefronts = plural(banks.wavefronts, "wavefront");
  if (clashes) return fmt::format("{}, {} would do", wavefronts, banks.passes);
  return wavefronts +
         (banks.wavefronts > banks.passes ? "; in each, no bank twice" : ", no conflict");
}

Piece draw_banks(const DrawnBanks& banks) {
  const int highest = std::max(1, *std::ranges::max_element(banks.banks));
  const double unit = highest <= 4 ? 10 : highest <= 8 ? 7 : 3, gap = highest <= 8 ? 1.5 : 0.6;
  const bool clashes = banks.wavefronts > banks.passes && highest > 1;
  std::string inside = text(
      0, 0,
      fmt::format("{} {}, {} bits", banks.is_store ? "store" : "load", banks.name, 8 * banks.bytes),
      kBody);
  inside += text(0, 19, words_of(banks, clashes), clashes ? kAlarm : kSoft);
  const double bottom = 30 + highest * unit;
  for (int bank = 0; bank < 32; ++bank) {
    const double x = bank * kBankWidth;
    inside += box(x, bottom + 2, kBankWidth - 1.5, 5, "idle");
    for (int word = 0; word < banks.banks[static_cast<std::size_t>(bank)]; ++word) {
      inside += box(x, bottom - (word + 1) * unit, kBankWidth - 1.5, unit - gap,
                    word == 0 ? "hit" : "clash");
    }
  }
  return {inside, bottom + 8};
}

// Pieces in rows of so many.
Piece in_rows(const std::vector<Piece>& pieces, std::size_t across, double width, double gap) {
  Piece all;
  for (std::size_t i = 0; i < pieces.size();) {
    double height = 0;
    for (std::size_t column = 0; column < across && i < pieces.size(); ++column, ++i) {
      all.inside +=
          svg::moved(static_cast<double>(column) * (width + gap), all.height, pieces[i].inside);
      height = std::max(height, pieces[i].height);
    }
    all.height += height + (i < pieces.size() ? 24 : 0);
  }
  return all;
}

struct Look {
  const char* look;
  const char* words;
  double width;  // of the words
};

// A heading, what it means, what the colours mean, and what is below them.
Piece section(const std::string& head, const std::string& words, const std::vector<Look>& looks,
              const Piece& below) {
  std::string inside = text(0, 0, head, kHead) + text(0, 20, words, kSoft);
  double x = 0;
  for (const Look& one : looks) {
    inside += box(x, 31, 11, 11, one.look) + text(x + 17, 41, one.words, kSoft);
    x += 17 + one.width + 22;
  }
  return {inside + svg::moved(0, 70, below.inside), 70 + below.height};
}

std::string size_words(const KernelPicture& picture) {
  const Problem& p = picture.problem;
  return fmt::format("{} x {} x {}, {}-major {}", p.m, p.n, p.k,
                     p.order == Order::kRowMajor ? "row" : "column", layout_of(p));
}

Piece column(const KernelPicture& picture) {
  Piece all{
      text(0, 0, words_of(picture.kernel), "class=\"ink\" font-size=\"22\" font-weight=\"700\"") +
          text(0, 22, fmt::format("{} · {}", picture.config, size_words(picture)), kSoft),
      62};
  const auto append = [&](const Piece& piece) {
    all.inside += svg::moved(0, all.height, piece.inside);
    all.height += piece.height + 40;
  };
  append(draw_tile(picture));
  std::vector<Piece> requests, banks;
  for (const DrawnRequest& request : picture.global) requests.push_back(draw_request(request));
  for (const DrawnBanks& one : picture.shared) banks.push_back(draw_banks(one));
  if (!requests.empty()) {
    append(section("Global memory: one request of the warp",
                   "a row: a line of 128 bytes, 4 sectors of 32",
                   {{"hit", "asked for", 65},
                    {"moved", "moved in the same sector", 184},
                    {"idle", "not moved", 70}},
                   in_rows(requests, 3, kStripWidth, 20)));
  }
  if (!banks.empty()) {
    append(section("Shared memory: the 32 banks",
                   "a column: a bank; a box: a word that it has to serve in the busiest pass",
                   {{"hit", "served at once", 98}, {"clash", "waits: a wavefront more", 160}},
                   in_rows(banks, 2, kBanksWidth, 36)));
  }
  all.height -= 40;
  return all;
}

std::string drawing(const std::string& title, const std::vector<Piece>& columns) {
  double height = 0;
  for (const Piece& piece : columns) height = std::max(height, piece.height);
  const double count = static_cast<double>(columns.size());
  std::string all = svg::page(count * kColumn, height + 40 + kMargin, title);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double x = static_cast<double>(i) * kColumn;
    if (i > 0) all += svg::line(x, kMargin, x, height + 40, "class=\"frame\"");
    all += svg::moved(x + kMargin, 40, columns[i].inside);
  }
  return all + "</svg>\n";
}

}  // namespace

std::string picture_svg(const KernelPicture& picture) {
  return drawing("What one block of " + words_of(picture.kernel) + " touches", {column(picture)});
}

std::string picture_svg(const KernelPicture& before, const KernelPicture& after) {
  return drawing("From " + words_of(before.kernel) + " to " + words_of(after.kernel),
                 {column(before), column(after)});
}

}  // namespace tessera::lab
