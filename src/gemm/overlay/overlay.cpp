#include "gemm/overlay/overlay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>

#include "base/hash.h"

namespace tessera::gemm {
namespace {

constexpr std::string_view kFirstLine = "tessera overlay 1";

std::string hash_of_text(std::string_view text) {
  return hash_of(std::as_bytes(std::span(text.data(), text.size())));
}

// The text on one line: control characters become spaces.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

std::string short_text(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", us);
  return text;
}

// Returns the text before the first separator, and removes it and the separator. None
// if there is no separator.
std::optional<std::string_view> take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, end);
  text.remove_prefix(end + 1);
  return before;
}

bool read_value(std::string_view& text, std::string_view name, std::string& to) {
  const auto line = take(text, '\n');
  const std::string prefix = std::string(name) + " ";
  if (!line || !line->starts_with(prefix)) return false;
  to = line->substr(prefix.size());
  return true;
}

bool read_us(std::string_view& line, double& us) {
  const auto word = take(line, ' ');
  if (!word) return false;
  const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), us);
  return error == std::errc() && end == word->data() + word->size() && std::isfinite(us) && us > 0;
}

// Reads an overlay. Returns what is wrong with the text, or "".
std::string read(std::string_view text, Overlay& to) {
  const std::string_view all = text;
  const auto first = take(text, '\n');
  if (!first || *first != kFirstLine) return "is no overlay of this version";
  OverlayOrigin& origin = to.origin;
  if (!read_value(text, "gpu", origin.gpu) || !read_value(text, "driver", origin.driver) ||
      !read_value(text, "library", origin.library)) {
    return "lacks a line of gpu, driver or library";
  }
  while (true) {
    const std::size_t place = all.size() - text.size();
    auto line = take(text, '\n');
    if (!line) return "ends in the middle";
    if (line->starts_with("end ")) {
      const std::string last =
          "end " + std::to_string(to.entries.size()) + " " + hash_of_text(all.substr(0, place));
      return *line == last && text.empty() ? "" : "was changed or cut";
    }
    OverlayEntry entry;
    if (!read_us(*line, entry.us) || !read_us(*line, entry.by_model_us)) return "has a bad line";
    const auto plan = take(*line, ' ');
    if (!plan || plan->empty() || line->empty()) return "has a bad line";
    entry.plan = *plan;
    if (!to.entries.emplace(*line, std::move(entry)).second) return "has two lines for a problem";
  }
}

void ignore(Overlay& overlay, const std::string& why) {
  overlay.entries.clear();
  overlay.ignored = why;
}

}  // namespace

std::string text_of(const Overlay& overlay) {
  const OverlayOrigin& origin = overlay.origin;
  std::string text(kFirstLine);
  text += "\ngpu " + one_line(origin.gpu) + "\ndriver " + one_line(origin.driver) + "\nlibrary " +
          one_line(origin.library) + "\n";
  for (const auto& [key, entry] : overlay.entries) {
    text += short_text(entry.us) + " " + short_text(entry.by_model_us) + " " + entry.plan + " " +
            key + "\n";
  }
  return text + "end " + std::to_string(overlay.entries.size()) + " " + hash_of_text(text) + "\n";
}

Overlay overlay_of(std::string_view text, std::string path) {
  Overlay overlay{std::move(path), {}, {}, {}};
  const std::string wrong =
      text.size() > kMostOverlayBytes ? "is longer than 4 MiB" : read(text, overlay);
  if (!wrong.empty()) ignore(overlay, overlay.path + " " + wrong);
  return overlay;
}

void ignore_if_foreign(Overlay& overlay, const OverlayOrigin& here) {
  const OverlayOrigin& origin = overlay.origin;
  if (!overlay.ignored.empty()) return;
  if (origin.gpu != one_line(here.gpu)) {
    return ignore(overlay, overlay.path + " was measured on '" + origin.gpu + "', and this is '" +
                               here.gpu + "'");
  }
  if (origin.library != one_line(here.library)) {
    ignore(overlay, overlay.path + " is of the library at " + origin.library +
                        ", and this one is " + here.library + "; run tessera tune again");
  }
}

}  // namespace tessera::gemm
