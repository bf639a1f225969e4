#include "lab/draw/svg.h"

#include <fmt/format.h>

namespace tessera::lab::svg {
namespace {

// Colours that colour-blind readers can distinguish (Okabe and Ito). They are lighter on a dark
// page.
constexpr const char* kStyle = R"(<style>
  .page { fill: #ffffff; } .ink { fill: #1c2733; } .soft { fill: #5b6874; }
  .frame { fill: none; stroke: #8a96a1; } .idle { fill: #e6ebef; }
  .arrow { stroke: #5b6874; } .tip { fill: #5b6874; } .cut { stroke: #ffffff; }
  .hit { fill: #0072b2; } .moved { fill: #a6d0ea; } .own { fill: #e69f00; } .clash { fill: #d0342c; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #14191f; } .ink { fill: #eef2f5; } .soft { fill: #a9b4be; }
    .frame { stroke: #6d7984; } .idle { fill: #262f38; }
    .arrow { stroke: #a9b4be; } .tip { fill: #a9b4be; } .cut { stroke: #14191f; }
    .hit { fill: #4fb0e8; } .moved { fill: #24506e; } .own { fill: #f0b429; } .clash { fill: #ff6b5e; }
  }
  text { font-family: Inter, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
</style>
)";

// Returns the number with one decimal, without a trailing ".0": "12", "12.5".
std::string number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string page(double width, double height, std::string_view title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n{3}<rect class=\"page\" width=\"{0}\" "
      "height=\"{1}\" rx=\"10\"/>\n",
      number(width), number(height), escaped(title), kStyle);
}

std::string text(double x, double y, std::string_view words, std::string_view look) {
  return fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", number(x), number(y), look,
                     escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view look) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", number(x1), number(y1),
                     number(x2), number(y2), look);
}

std::string arrow(double x1, double y1, double x2, double y2) {
  constexpr double kTip = 6, kHalf = 3.5;
  const bool is_down = y2 > y1;
  const double x = is_down ? x2 : x2 - kTip, y = is_down ? y2 - kTip : y2;
  const double dx = is_down ? kHalf : 0, dy = is_down ? 0 : kHalf;
  return line(x1, y1, x, y, "class=\"arrow\"") +
         fmt::format("<path d=\"M{} {}L{} {}L{} {}Z\" class=\"tip\"/>\n", number(x2), number(y2),
                     number(x - dx), number(y - dy), number(x + dx), number(y + dy));
}

std::string box(double x, double y, double width, double height, std::string_view look) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n",
                     number(x), number(y), number(width), number(height), look);
}

std::string moved(double x, double y, const std::string& inside) {
  return fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", number(x), number(y), inside);
}

}  // namespace tessera::lab::svg
