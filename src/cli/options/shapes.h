// Lists of shapes by name: a standard suite, or a text file with one shape per line.
#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"

namespace tessera::cli {

// The shapes of a suite, or else of a file. A line of the file has m, n and k, separated by spaces,
// commas or 'x'; '#' starts a comment. Throws kBadArgument with the file and the line.
std::vector<Shape> named_shapes(const std::string& name_or_path);

std::string names_of_suites();  // "squares, ladder, tails"

// The layouts that a suite is meant for: "all" or "NN". For a file of shapes: "NN".
std::string layouts_of_suite(const std::string& name);

}  // namespace tessera::cli
