// Shared code for the parts of a kernel's drawing: pieces that know how tall they are, and text
// that is broken before it leaves its column. Internal to src/lab/draw.
#pragma once

#include <string>
#include <vector>

#include "lab/draw/picture.h"

namespace tessera::lab {

// A piece of the drawing, and its height.
struct Piece {
  std::string inside;
  double height = 0;
};

inline constexpr double kColumn = 640, kMargin = 24, kInside = kColumn - 2 * kMargin;
inline constexpr double kLetter = 0.58;  // width of a letter of font size 1, in a wide font
inline constexpr const char* kHead = "class=\"ink\" font-size=\"16\" font-weight=\"600\"";
inline constexpr const char* kBody = "class=\"ink\" font-size=\"14\"";
inline constexpr const char* kSoft = "class=\"soft\" font-size=\"14\"";
inline constexpr const char* kAlarm = "class=\"clash\" font-size=\"14\" font-weight=\"600\"";

// "1 sector", "4 sectors"
std::string plural(std::int64_t count, const std::string& word);
// Breaks words into lines that fit into a width at the given font size.
std::vector<std::string> broken(const std::string& words, double width, double size = 14);
// Returns broken lines below each other, 20 apart.
Piece paragraph(const std::string& words, double width, const char* look, double size = 14);

// Draws "Who computes what": the tiles of A, B and D with their axes.
Piece draw_tile(const KernelPicture& picture);

}  // namespace tessera::lab
