// Draws a kernel's picture as SVG: three sections in a column, with two columns for two kernels.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "lab/draw/picture.h"
#include "lab/draw/pieces.h"
#include "lab/draw/svg.h"

namespace tessera::lab {
namespace {

using svg::box, svg::text;

constexpr double kWordWidth = 5.5, kBankWidth = 8;
constexpr double kStripWidth = 32 * kWordWidth, kBanksWidth = 32 * kBankWidth;

// Returns "05 conflict free" for "05_conflict_free".
std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

// Draws four sectors from left to right; requested words are dark.
std::string draw_bytes(const DrawnBytes& bytes, double y, double height) {
  std::string inside;
  for (int first = 0; first < 32;) {
    const auto look_of = [&](int word) {
      if (bytes.words >> word & 1) return "hit";
      return (bytes.words >> (word / 8 * 8) & 0xff) != 0 ? "moved" : "idle";
    };
    const char* const look = look_of(first);
    int end = first + 1;
    while (end < 32 && look_of(end) == look) ++end;
    inside += box(first * kWordWidth, y, (end - first) * kWordWidth, height, look);
    first = end;
  }
  for (int sector = 1; sector < 4; ++sector) {
    const double x = sector * 8 * kWordWidth;
    inside += svg::line(x, y, x, y + height, "class=\"cut\"");
  }
  return inside;
}

Piece draw_request(const KernelPicture& picture, const DrawnRequest& request) {
  const std::size_t count = request.rows.size();
  const double height = count <= 8    ? 8
                        : count <= 16 ? 6
                                      : 3.6,
               step = height + (count <= 16 ? 2 : 1);
  const std::string name = fmt::format("{} {}, {} bits", request.is_store ? "store" : "load",
                                       name_in_call(picture, request.name), 8 * request.bytes);
  const Piece names = paragraph(name, kStripWidth, kBody);
  std::string inside =
      names.inside + text(0, names.height - 1,
                          fmt::format("{} in {}", plural(request.sectors(), "sector"),
                                      plural(static_cast<std::int64_t>(count), "row")),
                          kSoft);
  double y = names.height + 8;
  for (const DrawnBytes& row : request.rows) {
    inside += draw_bytes(row, y, height);
    y += step;
  }
  return {inside, y};
}

std::string words_of(const DrawnBanks& banks) {
  const auto count = static_cast<std::int64_t>(banks.wavefronts.size());
  if (banks.excess() == 0) return plural(count, "wavefront") + ", no conflict";
  return fmt::format("{}, {} would do", plural(count, "wavefront"), count - banks.excess());
}

// Draws a row for each wavefront, the first at the top.
Piece draw_banks(const DrawnBanks& banks) {
  const std::size_t count = banks.wavefronts.size();
  const double unit = count <= 4 ? 10 : count <= 8 ? 7 : 3.6, gap = count <= 8 ? 1.5 : 0.6;
  const std::string name =
      fmt::format("{} {}, {} bits", banks.is_store ? "store" : "load", banks.name, 8 * banks.bytes);
  const Piece names = paragraph(name, kBanksWidth, kBody);
  std::string inside = names.inside + text(0, names.height - 1, words_of(banks),
                                           banks.excess() > 0 ? kAlarm : kSoft);
  double y = names.height + 8;
  for (const DrawnWavefront& wavefront : banks.wavefronts) {
    for (int first = 0; first < 32;) {
      const bool is_busy = (wavefront.banks >> first & 1) != 0;
      int end = first + 1;
      while (!is_busy && end < 32 && (wavefront.banks >> end & 1) == 0) ++end;
      inside += box(first * kBankWidth, y, (end - first) * kBankWidth - 1.5, unit - gap,
                    !is_busy              ? "idle"
                    : wavefront.is_excess ? "clash"
                                          : "hit");
      first = end;
    }
    y += unit;
  }
  return {inside, y + 4};
}

// Places pieces in rows of `across` pieces each.
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
  double width;  // width of the words
};

// Returns a section: a heading, its explanation, the legend of the colours, and the piece below.
Piece section(const std::string& head, const std::string& words, const std::vector<Look>& looks,
              const Piece& below) {
  const Piece lines = paragraph(words, kInside, kSoft);
  std::string inside = text(0, 0, head, kHead) + svg::moved(0, 20, lines.inside);
  const double y = 20 + lines.height;
  double x = 0;
  for (const Look& one : looks) {
    inside += box(x, y - 9, 11, 11, one.look) + text(x + 17, y + 1, one.words, kSoft);
    x += 17 + one.width + 22;
  }
  return {inside + svg::moved(0, y + 30, below.inside), y + 30 + below.height};
}

// Returns the kernel's sizes and layout, and for a column-major call also the call's own.
std::string size_words(const KernelPicture& picture) {
  const Problem& p = picture.problem;
  const bool swaps = picture.is_exchanged;
  const bool a_along_k = swaps ? view_b(p).row == 1 : view_a(p).col == 1;
  const bool b_along_k = swaps ? view_a(p).col == 1 : view_b(p).row == 1;
  std::string words = fmt::format(
      "{} · m {}, n {}, k {}. In memory A runs along {}, B along {}, D along n.", picture.config,
      swaps ? p.n : p.m, swaps ? p.m : p.n, p.k, a_along_k ? "k" : "m", b_along_k ? "k" : "n");
  if (swaps) {
    words += fmt::format(
        " (This is a column-major {} call of {} x {} x {}: the kernel takes its A "
        "as B and its B as A.)",
        layout_of(p), p.m, p.n, p.k);
  }
  return words;
}

Piece column(const KernelPicture& picture) {
  Piece all{
      text(0, 0, words_of(picture.kernel), "class=\"ink\" font-size=\"22\" font-weight=\"700\"") +
          svg::moved(0, 24, paragraph(size_words(picture), kInside, kSoft).inside),
      46 + paragraph(size_words(picture), kInside, kSoft).height};
  const auto append = [&](const Piece& piece) {
    all.inside += svg::moved(0, all.height, piece.inside);
    all.height += piece.height + 40;
  };
  append(draw_tile(picture));
  std::vector<Piece> requests, banks;
  for (const DrawnRequest& request : picture.global)
    requests.push_back(draw_request(picture, request));
  for (const DrawnBanks& one : picture.shared) banks.push_back(draw_banks(one));
  if (!requests.empty()) {
    append(section(
        "Global memory: one request of the warp",
        "What the 32 lanes ask for with one instruction. A row: 128 bytes of memory, which are 4 "
        "sectors of 32 bytes; memory moves whole sectors.",
        {{"hit", "asked for", 65},
         {"moved", "moved in the same sector", 184},
         {"idle", "not moved", 70}},
        in_rows(requests, 3, kStripWidth, 20)));
  }
  if (std::ranges::all_of(picture.global, &DrawnRequest::is_store)) {
    append(paragraph(
        "This warp loads nothing from global memory: other warps do, or bulk copies (TMA), "
        "which no lane issues and which are not drawn.",
        kInside, kSoft));
  }
  if (!banks.empty()) {
    append(
        section("Shared memory: the 32 banks",
                "What the 32 lanes ask for with one instruction. A column: one of the 32 banks. A "
                "row: one wavefront, the time in which each bank serves one word of 4 bytes, to "
                "all lanes that want it.",
                {{"hit", "a word is served", 115},
                 {"clash", "bank conflict: one wavefront more", 240},
                 {"idle", "no word", 60}},
                in_rows(banks, 2, kBanksWidth, 36)));
  }
  all.height -= 40;
  return all;
}

std::string drawing(const std::string& title, const std::vector<Piece>& columns,
                    const std::string& conclusion) {
  double height = 0;
  for (const Piece& piece : columns) height = std::max(height, piece.height);
  const double width = static_cast<double>(columns.size()) * kColumn;
  constexpr double kSize = 16;
  const Piece words = paragraph(conclusion, width - 2 * kMargin - 12, kHead, kSize);
  const double bottom = 40 + height + 28;
  std::string all = svg::page(width, bottom + words.height + 26, title);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double x = static_cast<double>(i) * kColumn;
    if (i > 0) all += svg::line(x, kMargin, x, bottom - 20, "class=\"frame\"");
    all += svg::moved(x + kMargin, 40, columns[i].inside);
  }
  all += svg::line(kMargin, bottom - 8, width - kMargin, bottom - 8, "class=\"frame\"");
  return all + svg::moved(kMargin, bottom + 18, words.inside) + "</svg>\n";
}

}  // namespace

std::string plural(std::int64_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::vector<std::string> broken(const std::string& words, double width, double size) {
  const auto letters = static_cast<std::size_t>(width / (kLetter * size));
  std::vector<std::string> lines(1);
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > letters) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

Piece paragraph(const std::string& words, double width, const char* look, double size) {
  Piece all;
  for (const std::string& line : broken(words, width, size)) {
    all.inside += text(0, all.height, line, look);
    all.height += 20;
  }
  return all;
}

std::string picture_svg(const KernelPicture& picture) {
  return drawing("What one block of " + words_of(picture.kernel) + " touches", {column(picture)},
                 conclusion_of(picture));
}

std::string picture_svg(const KernelPicture& before, const KernelPicture& after) {
  return drawing("From " + words_of(before.kernel) + " to " + words_of(after.kernel),
                 {column(before), column(after)}, conclusion_of(before, after));
}

}  // namespace tessera::lab
