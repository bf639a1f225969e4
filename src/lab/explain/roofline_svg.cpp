// Draws a roofline as SVG by hand: axes, roofs, three points per kernel, and labels in a column of
// their own, moved apart until none covers another.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "lab/draw/svg.h"
#include "lab/explain/roofline.h"

namespace tessera::lab {
namespace {

constexpr double kWidth = 1280, kHeight = 760;
constexpr double kLeft = 78, kRight = 806, kTop = 104, kBottom = 640;
constexpr double kLabelX = 836, kSpeedX = 1090, kBoundX = 1108;  // positions of columns
constexpr double kLabelStep = 19;

// One colour for each bound, distinct for colour-blind readers (Okabe and Ito), legible on white
// and black.
constexpr std::array kColours = {std::pair{"shared memory", "#d55e00"},
                                 std::pair{"L1", "#cc79a7"},
                                 std::pair{"issue slots", "#0072b2"},
                                 std::pair{"FMA unit", "#009e73"},
                                 std::pair{"ALU", "#56b4e9"},
                                 std::pair{"FP64 unit", "#007d5a"},
                                 std::pair{"tensor cores", "#8a63d2"},
                                 std::pair{"device memory", "#b58900"},
                                 std::pair{"L2", "#a0682a"},
                                 std::pair{"latency", "#7f8a94"}};

const char* colour_of(std::string_view bound) {
  for (const auto& [name, colour] : kColours) {
    if (bound == name) return colour;
  }
  return "#7f8a94";
}

// The scales of both axes, which are in powers of ten.
struct Scale {
  double x_low, x_high, y_low, y_high;

  double x(double value) const {
    return kLeft + (kRight - kLeft) * std::log(value / x_low) / std::log(x_high / x_low);
  }
  double y(double value) const {
    return kBottom - (kBottom - kTop) * std::log(value / y_low) / std::log(y_high / y_low);
  }
};

Scale scale_of(const Roofline& roofline) {
  Scale scale{0.1, 100, 0.1, 10};
  for (const RooflinePoint& p : roofline.points) {
    for (double x : {p.intensity.requested, p.intensity.sector, p.intensity.footprint}) {
      if (x > 0) scale.x_low = std::min(scale.x_low, x / 1.6);
      scale.x_high = std::max(scale.x_high, x * 1.8);
    }
    if (p.tflops() > 0) scale.y_low = std::min(scale.y_low, p.tflops() / 1.8);
  }
  for (const ComputeRoof& roof : roofline.peaks) {
    scale.y_high = std::max(scale.y_high, 2.2 * roof.tflops);
  }
  return scale;
}

std::string style() {
  return R"(<style>
  .page { fill: #ffffff; } .ink { fill: #1c2733; } .soft { fill: #5b6874; }
  .grid { stroke: #e3e8ed; } .axis { stroke: #8a96a1; } .roof { stroke: #1c2733; }
  .lead { stroke: #b9c3cc; } .hole { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #14191f; } .ink { fill: #eef2f5; } .soft { fill: #a9b4be; }
    .grid { stroke: #29323b; } .axis { stroke: #6d7984; } .roof { stroke: #eef2f5; }
    .lead { stroke: #4a555f; } .hole { fill: #14191f; }
  }
  text { font-family: Inter, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
</style>
)";
}

std::string text(double x, double y, std::string_view words, const char* look = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, look,
                     svg::escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view look) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, look);
}

std::string power_label(double value) {
  return value >= 0.999 ? fmt::format("{:.0f}", value) : fmt::format("{:g}", value);
}

std::string axes(const Scale& scale) {
  std::string svg;
  for (double x = std::pow(10, std::ceil(std::log10(scale.x_low))); x <= scale.x_high; x *= 10) {
    svg += line(scale.x(x), kTop, scale.x(x), kBottom, "class=\"grid\"");
    svg += text(scale.x(x), kBottom + 22, power_label(x),
                "class=\"soft\" font-size=\"14\" text-anchor=\"middle\"");
  }
  for (double y = std::pow(10, std::ceil(std::log10(scale.y_low))); y <= scale.y_high; y *= 10) {
    svg += line(kLeft, scale.y(y), kRight, scale.y(y), "class=\"grid\"");
    svg += text(kLeft - 10, scale.y(y) + 5, power_label(y),
                "class=\"soft\" font-size=\"14\" text-anchor=\"end\"");
  }
  svg += line(kLeft, kBottom, kRight, kBottom, "class=\"axis\"");
  svg += line(kLeft, kTop, kLeft, kBottom, "class=\"axis\"");
  svg += text((kLeft + kRight) / 2, kBottom + 48, "FLOP per byte of global memory",
              "class=\"ink\" font-size=\"15\" text-anchor=\"middle\"");
  svg += fmt::format(
      "<text class=\"ink\" font-size=\"15\" text-anchor=\"middle\" "
      "transform=\"translate(24 {:.1f}) rotate(-90)\">TFLOP/s</text>\n",
      (kTop + kBottom) / 2);
  return svg;
}

double highest_peak(const Roofline& roofline) {
  double peak = 0;
  for (const ComputeRoof& roof : roofline.peaks) peak = std::max(peak, roof.tflops);
  return peak;
}

std::string bandwidth_roof(const BandwidthRoof& roof, const Scale& scale, double peak) {
  const double slope = roof.gbs * 1e-3;  // TFLOP/s at 1 FLOP/byte
  const double from = std::max(scale.x_low, scale.y_low / slope);
  const double to = std::min(scale.x_high, peak / slope);
  if (to <= from) return "";
  std::string svg = line(scale.x(from), scale.y(from * slope), scale.x(to), scale.y(to * slope),
                         "class=\"roof\" stroke-width=\"2\"");
  // The label is written along the lower half of the roof, because kernels gather in the upper
  // half.
  const double at = from * std::pow(to / from, 0.26);
  const double angle = -180 / std::acos(-1.0) *
                       std::atan2(scale.y(slope) - scale.y(10 * slope), scale.x(10) - scale.x(1));
  svg += fmt::format(
      "<text class=\"ink\" font-size=\"14\" text-anchor=\"middle\" "
      "transform=\"translate({:.1f} {:.1f}) rotate({:.2f})\">{} {:.2f} TB/s</text>\n",
      scale.x(at) - 6, scale.y(at * slope) - 8, angle, svg::escaped(roof.name), slope);
  return svg;
}

// Draws the compute roofs. Peaks at the same height share one label.
std::string compute_roofs(const Roofline& roofline, const Scale& scale) {
  double fastest = 0;
  for (const BandwidthRoof& roof : roofline.bandwidths) fastest = std::max(fastest, roof.gbs);
  std::vector<ComputeRoof> peaks;
  for (const ComputeRoof& roof : roofline.peaks) {
    const auto same = std::ranges::find_if(peaks, [&](const ComputeRoof& other) {
      return std::abs(std::log(other.tflops / roof.tflops)) < 0.05;
    });
    if (same == peaks.end()) {
      peaks.push_back(roof);
    } else {
      same->name += ", " + roof.name;
    }
  }
  std::string svg;
  for (const ComputeRoof& roof : peaks) {
    const double y = scale.y(roof.tflops);
    const double from = scale.x(std::max(scale.x_low, roof.tflops / (fastest * 1e-3)));
    svg += line(from, y, kRight, y, "class=\"roof\" stroke-width=\"2\"");
    svg += text(from - 10, y + 5, fmt::format("{} {:.1f}", roof.name, roof.tflops),
                "class=\"ink\" font-size=\"14\" text-anchor=\"end\"");
  }
  return svg;
}

// Moves label positions apart, as little as possible, and keeps them between top and bottom.
std::vector<double> spread(std::vector<double> wanted) {
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    wanted[i] = std::max(wanted[i], wanted[i - 1] + kLabelStep);
  }
  if (!wanted.empty()) wanted.back() = std::min(wanted.back(), kBottom);
  for (std::size_t i = wanted.size(); i-- > 1;) {
    wanted[i - 1] = std::min(wanted[i - 1], wanted[i] - kLabelStep);
  }
  return wanted;
}

std::string marks(const RooflinePoint& p, const Scale& scale) {
  const char* colour = colour_of(p.bound);
  const double y = scale.y(p.tflops());
  std::vector<double> xs;
  for (double x : {p.intensity.requested, p.intensity.sector, p.intensity.footprint}) {
    if (x > 0) xs.push_back(scale.x(x));
  }
  const auto [low, high] = std::ranges::minmax(xs);
  std::string svg =
      line(low, y, high, y,
           fmt::format("stroke=\"{}\" stroke-width=\"1.6\" stroke-opacity=\"0.55\"", colour));
  const auto look = fmt::format("stroke=\"{}\" stroke-width=\"2\"", colour);
  if (p.intensity.requested > 0) {
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" class=\"hole\" {}/>\n",
                       scale.x(p.intensity.requested), y, look);
  }
  if (p.intensity.sector > 0) {
    const double x = scale.x(p.intensity.sector);
    svg +=
        fmt::format("<path d=\"M{:.1f} {:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\" class=\"hole\" {}/>\n",
                    x, y - 5.5, look);
  }
  if (p.intensity.footprint > 0) {
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n",
                       scale.x(p.intensity.footprint), y, colour);
  }
  return svg;
}

std::string label(const RooflinePoint& p, double y) {
  const auto colour = fmt::format("fill=\"{}\" font-size=\"14\"", colour_of(p.bound));
  return text(kLabelX, y + 5, p.kernel, "class=\"ink\" font-size=\"14\" font-weight=\"600\"") +
         text(kSpeedX, y + 5, fmt::format("{:.3g}", p.tflops()),
              "class=\"soft\" font-size=\"14\" text-anchor=\"end\"") +
         text(kBoundX, y + 5, p.bound, colour.c_str());
}

std::string column_heads() {
  const double y = kTop - 10;
  return text(kLabelX, y, "kernel", "class=\"soft\" font-size=\"13\"") +
         text(kSpeedX, y, "TFLOP/s", "class=\"soft\" font-size=\"13\" text-anchor=\"end\"") +
         text(kBoundX, y, "limited by (model)", "class=\"soft\" font-size=\"13\"");
}

std::string points(const Roofline& roofline, const Scale& scale) {
  std::vector<const RooflinePoint*> order;
  for (const RooflinePoint& p : roofline.points) order.push_back(&p);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const RooflinePoint* p) { return p->tflops(); });
  std::vector<double> wanted;
  for (const RooflinePoint* p : order) wanted.push_back(scale.y(p->tflops()));
  const std::vector<double> placed = spread(wanted);
  std::string leads, dots, labels;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const RooflinePoint& p = *order[i];
    const double from = scale.x(std::max(p.intensity.footprint, p.intensity.sector)) + 8;
    leads += fmt::format(
        "<path class=\"lead\" fill=\"none\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n",
        from, wanted[i], kRight + 6, wanted[i], kLabelX - 6, placed[i]);
    dots += marks(p, scale);
    labels += label(p, placed[i]);
  }
  return leads + dots + labels;
}

std::string legend() {
  const double y = kHeight - 34;
  std::string svg = fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" class=\"hole axis\" stroke-width=\"2\"/>\n",
      kLeft + 6, y - 5);
  svg += text(kLeft + 18, y, "bytes that lanes request", "class=\"soft\" font-size=\"14\"");
  svg += fmt::format(
      "<path d=\"M{:.1f} {:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\" class=\"hole axis\" "
      "stroke-width=\"2\"/>\n",
      kLeft + 226, y - 10.5);
  svg += text(kLeft + 240, y, "sectors of 32 bytes, no cache", "class=\"soft\" font-size=\"14\"");
  svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" class=\"soft\"/>\n", kLeft + 478,
                     y - 5);
  svg += text(kLeft + 490, y, "footprint: each sector once", "class=\"soft\" font-size=\"14\"");
  return svg;
}

}  // namespace

std::string roofline_svg(const Roofline& roofline) {
  const Scale scale = scale_of(roofline);
  const double peak = highest_peak(roofline);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>Roofline of the {2}</title>\n",
      kWidth, kHeight, svg::escaped(roofline.gpu.match));
  svg += style();
  svg +=
      fmt::format("<rect class=\"page\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n", kWidth, kHeight);
  svg += text(kLeft, 44, fmt::format("NVIDIA {}: {}", roofline.gpu.match, roofline.size),
              "class=\"ink\" font-size=\"26\" font-weight=\"700\"");
  const std::string source =
      roofline.measured.empty()
          ? fmt::format("times: model ({})", roofline.model)
          : fmt::format("times: measured ({}); bound: model", roofline.measured);
  svg += text(kLeft, 70, source, "class=\"soft\" font-size=\"15\"");
  svg += axes(scale);
  for (const BandwidthRoof& roof : roofline.bandwidths) {
    svg += bandwidth_roof(roof, scale, peak);
  }
  svg += compute_roofs(roofline, scale);
  svg += points(roofline, scale);
  svg += column_heads();
  svg += legend();
  return svg + "</svg>\n";
}

}  // namespace tessera::lab
