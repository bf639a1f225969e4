#include "cli/options/shapes.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/numbers.h"

namespace tessera::cli {
namespace {

struct Suite {
  const char* name;
  std::vector<Shape> shapes;
  const char* layouts = "NN";
};

std::vector<Shape> squares(const std::vector<std::int64_t>& sizes) {
  std::vector<Shape> shapes;
  for (const std::int64_t size : sizes) shapes.push_back({size, size, size});
  return shapes;
}

std::vector<Shape> joined(std::vector<Shape> shapes, const std::vector<Shape>& more) {
  shapes.insert(shapes.end(), more.begin(), more.end());
  return shapes;
}

const std::vector<Suite>& suites() {
  // The shapes of the FP32 measurements: sizes that fit the tiles, sizes that do not, and
  // shapes with a short side.
  static const std::vector<Shape> kSquares = squares({512, 1024, 2048, 4096, 8192, 16384});
  static const std::vector<Shape> kOdd = squares({1000, 1023, 2047, 4095, 4097, 5000});
  static const std::vector<Shape> kSkinny = {
      {16, 8192, 8192},  {64, 8192, 8192}, {256, 256, 65536}, {128, 128, 262144},
      {32, 32, 1048576}, {8192, 8192, 64}, {100000, 64, 64},  {50257, 1024, 768}};
  static const std::vector<Suite> kSuites = {
      {"squares", {{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}}},
      {"ladder", {{512, 128, 256}}},
      {"tails", {{1, 1, 1}, {33, 65, 17}, {127, 129, 255}, {257, 3, 65}, {512, 128, 256}}},
      {"fp32_squares", kSquares, "all"},
      {"fp32_odd", kOdd, "all"},
      {"fp32_skinny", kSkinny, "all"},
      {"fp32", joined(kSquares, kOdd), "all"},
  };
  return kSuites;
}

// Reads one line of a file of shapes. `where` is "--shapes (FILE line 3)".
Shape parse_line(std::string line, const std::string& where) {
  const std::string original = line;
  for (char& c : line) {
    if (c == ',' || c == 'x' || c == '\t' || c == '\r') c = ' ';
  }
  std::vector<std::int64_t> sizes;
  std::istringstream words(line);
  for (std::string word; words >> word;) sizes.push_back(parse_integer(where, word));
  if (sizes.size() != 3) {
    throw StatusError(Status::bad_argument(
        fmt::format("{} is '{}', but must hold three sizes 'm n k'", where, original)));
  }
  return {sizes[0], sizes[1], sizes[2]};
}

std::vector<Shape> read_shapes(const std::string& path) {
  // WHY check before opening: opening a pipe waits for the other end of the pipe.
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  std::ifstream file(regular ? path : std::string());
  if (!file) {
    throw StatusError(Status::bad_argument(
        fmt::format("--shapes is '{}', but must be a file that can be read or one of the suites {}",
                    path, names_of_suites())));
  }
  std::vector<Shape> shapes;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    shapes.push_back(parse_line(line, fmt::format("--shapes ({} line {})", path, number)));
  }
  if (shapes.empty()) {
    throw StatusError(Status::bad_argument(
        fmt::format("--shapes is '{}', but must hold at least one line 'm n k'", path)));
  }
  return shapes;
}

}  // namespace

std::string names_of_suites() {
  std::string names;
  for (const Suite& suite : suites())
    names += (names.empty() ? "" : ", ") + std::string(suite.name);
  return names;
}

std::string layouts_of_suite(const std::string& name) {
  for (const Suite& suite : suites()) {
    if (suite.name == name) return suite.layouts;
  }
  return "NN";
}

std::vector<Shape> named_shapes(const std::string& name_or_path) {
  for (const Suite& suite : suites()) {
    if (suite.name == name_or_path) return suite.shapes;
  }
  return read_shapes(name_or_path);
}

}  // namespace tessera::cli
