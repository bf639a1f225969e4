#include "lab/explain/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "arch/gpus.h"

namespace tessera::lab {
namespace {

Roofline roofline() {
  std::vector<RooflinePoint> points;
  for (int i = 0; i < 16; ++i) {
    RooflinePoint point;
    point.kernel = "kernel_" + std::to_string(i);
    point.flop = 1.4e11;
    point.intensity = {0.25 + i, 0.5 + i, 600};
    point.predicted_ms = i < 4 ? 280.0 + i : 3.0 + 2 * i;  // some nearly alike
    point.bound = i % 2 ? "shared memory" : "a <new> bound & more";
    points.push_back(point);
  }
  Roofline made = roofline_of(arch::kH200, std::move(points));
  made.size = "4096 x 4096 x 4096";
  return made;
}

// Every opened tag is closed in order, and no text holds a bare < or &.
void expect_well_formed(const std::string& svg) {
  static const std::regex kTag("<(/?)([a-z]+)[^<>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(svg.begin(), svg.end(), kTag), end; it != end; ++it) {
    if ((*it)[1].length()) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), (*it)[2].str());
      open.pop_back();
    } else if (!(*it)[3].length()) {
      open.push_back((*it)[2].str());
    }
  }
  EXPECT_TRUE(open.empty());
  const std::string rest = std::regex_replace(svg, kTag, "");
  EXPECT_EQ(rest.find('<'), std::string::npos);
  static const std::regex kBareAmpersand("&(?!amp;|lt;|gt;|quot;)");
  EXPECT_FALSE(std::regex_search(rest, kBareAmpersand));
}

TEST(Roofline, TheDrawingIsWellFormedAndFinite) {
  const std::string svg = roofline_svg(roofline());
  expect_well_formed(svg);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_NE(svg.find("times: model"), std::string::npos);
  EXPECT_NE(svg.find("a &lt;new&gt; bound &amp; more"), std::string::npos) << svg.substr(0, 500);
}

TEST(Roofline, NoLabelCoversAnother) {
  const std::string svg = roofline_svg(roofline());
  static const std::regex kLabel("<text x=\"836[.]0\" y=\"([0-9.]+)\" class=\"ink\"");
  std::vector<double> rows;
  for (std::sregex_iterator it(svg.begin(), svg.end(), kLabel), end; it != end; ++it) {
    rows.push_back(std::stod((*it)[1]));
  }
  ASSERT_EQ(rows.size(), 16u);
  std::ranges::sort(rows);
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_GE(rows[i] - rows[i - 1], 18.9);
}

TEST(Roofline, NoPointsAreADrawingToo) {
  expect_well_formed(roofline_svg(roofline_of(arch::kRtx4090, {})));
}

TEST(Roofline, MeasuredTimesReplacePredictedOnes) {
  Roofline made = roofline();
  made.points[0].measured_ms = 140;
  made.measured = "results/x.json";
  EXPECT_DOUBLE_EQ(made.points[0].tflops(), 1);
  EXPECT_NE(roofline_svg(made).find("times: measured (results/x.json)"), std::string::npos);
  EXPECT_EQ(roofline_table(made).rows[0][8], "140");
}

}  // namespace
}  // namespace tessera::lab
