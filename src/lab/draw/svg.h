// Pieces of drawings as SVG text: words, lines and boxes on a page that is legible on white and on
// black. kStyle in svg.cpp defines the classes.
#pragma once

#include <string>
#include <string_view>

namespace tessera::lab::svg {

std::string escaped(std::string_view text);

// Returns the head of a drawing: its size in pixels, its title for screen readers, the colours and
// an empty page. The caller adds the parts of the drawing and then ends the drawing with
// "</svg>\n".
std::string page(double width, double height, std::string_view title);

// `look` holds further attributes: "class=\"soft\" font-size=\"14\"".
std::string text(double x, double y, std::string_view words, std::string_view look);
std::string line(double x1, double y1, double x2, double y2, std::string_view look);
// An arrow from (x1, y1) to (x2, y2), which is to the right of (x1, y1) or below it.
std::string arrow(double x1, double y1, double x2, double y2);
// Returns a box of one of the classes "hit", "moved", "idle", "clash" and "own".
std::string box(double x, double y, double width, double height, std::string_view look);
// Returns the drawing `inside`, moved by (x, y).
std::string moved(double x, double y, const std::string& inside);

}  // namespace tessera::lab::svg
