#include "gemm/decision.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tessera::gemm {
namespace {

std::string counted(std::int64_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string text_of_tiles(const Piece& piece) {
  if (!piece.is_split()) return counted(piece.tiles, "tile");
  const std::string whole =
      piece.whole_tiles > 0 ? counted(piece.whole_tiles, "tile") + ", " : std::string();
  return whole + counted(piece.tiles - piece.whole_tiles, "tile") + " split in " +
         counted(piece.runs, "run");
}

// Calls take(word) for each part of a text between separators.
template <class Take>
void for_parts(std::string_view text, char separator, Take&& take) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    take(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Reads the name of a decision.
class Reader {
 public:
  explicit Reader(const KernelChoice& choice) : choice_(choice) {}

  Decision read() {
    for_parts(choice_.decision, '+', [&](std::string_view part) { read_piece(part); });
    const Piece& first = decision_.list[0];
    if (decision_.count == 1 && (first.m > 0 || first.n > 0)) {
      refuse(choice_.decision, "rows and columns are those of several pieces");
    }
    return std::move(decision_);
  }

 private:
  void read_piece(std::string_view text) {
    if (decision_.count == Decision::kMostPieces) refuse(text, "there are at most three pieces");
    Piece& piece = decision_.list[decision_.count++];
    bool has_variant = decision_.count == 1;
    if (has_variant) piece.variant = variant(choice_.variant);
    for_parts(text, ':', [&](std::string_view word) {
      if (has_variant) return read_word(word, piece);
      piece.variant = variant(word);
      has_variant = true;
    });
  }

  void read_word(std::string_view word, Piece& piece) {
    const std::size_t sign = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, sign);
    const std::string_view value = word.substr(std::min(sign + 1, word.size()));
    if (word == "whole") return;
    if (word == "each") {
      decision_.is_for_each = true;
    } else if (word == "exchanged") {
      decision_.is_exchanged = true;
    } else if (key == "repack" && (value == "a" || value == "b" || value == "ab")) {
      decision_.repack = {value != "b", value != "a"};
    } else if (key == "parts") {
      decision_.is_cut = true;
      decision_.parts = number(word, value);
    } else if (key == "warps") {
      decision_.warps = static_cast<int>(number(word, value));
    } else if (key == "lanes") {
      decision_.lanes = static_cast<int>(number(word, value));
    } else if (key == "rows") {
      read_range(word, value, piece.m_begin, piece.m);
    } else if (key == "columns") {
      read_range(word, value, piece.n_begin, piece.n);
    } else if (key == "whole_tiles") {
      piece.whole_tiles = number(word, value);
    } else if (key == "runs") {
      piece.runs = static_cast<int>(number(word, value));
    } else {
      refuse(word,
             "a word must be one of: whole, each, exchanged, repack=a, repack=b, repack=ab, "
             "parts=N, warps=N, lanes=N, rows=BEGIN-END, columns=BEGIN-END, whole_tiles=N, runs=N");
    }
  }

  void read_range(std::string_view word, std::string_view value, std::int64_t& begin,
                  std::int64_t& extent) const {
    const std::size_t dash = std::min(value.find('-'), value.size());
    begin = number(word, value.substr(0, dash));
    extent = number(word, value.substr(std::min(dash + 1, value.size()))) - begin;
    if (extent <= 0) refuse(word, "the end must be above the beginning");
  }

  std::int64_t number(std::string_view word, std::string_view digits) const {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc() || end != digits.end() || value < 0) {
      refuse(word, "numbers must be from 0 to 2^31 - 1");
    }
    return value;
  }

  // The variant's name in the catalog, which is valid for the life of the process.
  std::string_view variant(std::string_view name) const {
    for (const KernelRow& row : choice_.kernel->rows) {
      if (row.variant == name) return row.variant;
    }
    refuse(name, choice_.kernel->name + " has no such variant");
  }

  [[noreturn]] void refuse(std::string_view word, const std::string& why) const {
    throw StatusError(Status::bad_argument("kernel is '" + choice_.kernel->name + "/" +
                                           choice_.variant + ":" + choice_.decision + "', with '" +
                                           std::string(word) + "', but " + why));
  }

  const KernelChoice& choice_;
  Decision decision_;
};

std::string range(std::int64_t begin, std::int64_t extent) {
  return std::to_string(begin) + "-" + std::to_string(begin + extent);
}

}  // namespace

std::string text_of(const Decision& d) {
  if (d.count == 0) return "-";
  if (d.warps > 0)
    return counted(d.list[0].tiles, "block") + ", " + counted(d.warps, "warp") + " a row";
  if (d.lanes > 0) {
    return counted(d.list[0].tiles, "block") + ", " + std::to_string(d.lanes) +
           " lanes side by side";
  }
  std::string text = text_of_tiles(d.list[0]);
  for (int i = 1; i < d.count; ++i) {
    text += (i == 1 ? "; " : ", ") + std::string(d.list[i].variant);
  }
  if (d.is_cut) text += "; k in " + counted(d.parts, "part");
  if (d.is_exchanged) text += "; exchanged";
  if (d.repack.a) text += d.repack.b ? "; A and B repacked" : "; A repacked";
  if (d.repack.b && !d.repack.a) text += "; B repacked";
  return text;
}

std::string name_of(const Decision& d) {
  std::string name;
  const auto add = [&](const std::string& word) { name += (name.empty() ? "" : ":") + word; };
  if (d.is_for_each) add("each");
  if (d.is_exchanged) add("exchanged");
  if (d.repack.any())
    add(std::string("repack=") + (d.repack.a ? "a" : "") + (d.repack.b ? "b" : ""));
  if (d.is_cut) add("parts=" + std::to_string(d.parts));
  if (d.warps > 0) add("warps=" + std::to_string(d.warps));
  if (d.lanes > 0) add("lanes=" + std::to_string(d.lanes));
  for (const Piece& piece : d.pieces()) {
    if (&piece != d.list) name += "+" + std::string(piece.variant);
    if (d.count > 1) {
      add("rows=" + range(piece.m_begin, piece.m));
      add("columns=" + range(piece.n_begin, piece.n));
    }
    if (piece.is_split()) {
      add("whole_tiles=" + std::to_string(piece.whole_tiles));
      add("runs=" + std::to_string(piece.runs));
    }
  }
  return name.empty() ? "whole" : name;
}

Decision decision_named(const KernelChoice& choice) { return Reader(choice).read(); }

}  // namespace tessera::gemm
