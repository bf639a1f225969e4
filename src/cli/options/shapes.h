// Shapes by name: a text file with one shape per line, or a standard suite.
#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"

namespace tessera::cli {

// A suite of that name, else the file of that path. Lines of a file hold m, n and k between spaces,
// commas or 'x'; '#' starts a comment. Throws kBadArgument that names file and line.
std::vector<Shape> named_shapes(const std::string& name_or_path);

std::string names_of_suites();  // "squares, ladder, tails"

// The layouts that the suite is meant for: "all" or "NN"; "NN" if `name` is a file of shapes.
std::string layouts_of_suite(const std::string& name);

}  // namespace tessera::cli
