// Pieces of drawings, as SVG text: a page that is legible on white and on black, words, lines and
// boxes. kStyle in svg.cpp says what the classes look like.
#pragma once

#include <string>
#include <string_view>

namespace tessera::lab::svg {

std::string escaped(std::string_view text);

// The head of a drawing: its size, its title for readers that do not see it, the colours and an
// empty page. It ends with "</svg>\n".
std::string page(double width, double height, std::string_view title);

// `look`: further attributes, "class=\"soft\" font-size=\"14\"".
std::string text(double x, double y, std::string_view words, std::string_view look);
std::string line(double x1, double y1, double x2, double y2, std::string_view look);
// An arrow from the first point to the second, which is to the right of it or below it.
std::string arrow(double x1, double y1, double x2, double y2);
// A box of a class, "hit", "moved", "idle", "clash", "own".
std::string box(double x, double y, double width, double height, std::string_view look);
// The drawing `inside`, moved.
std::string moved(double x, double y, const std::string& inside);

}  // namespace tessera::lab::svg
