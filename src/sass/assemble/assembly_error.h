// An error in an assembly text, with its line and column, which count from 1.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tessera::sass {

struct AssemblyError : std::runtime_error {
  AssemblyError(std::size_t line_, std::size_t column_, const std::string& what)
      : std::runtime_error("line " + std::to_string(line_) + ", column " + std::to_string(column_) +
                           ": " + what),
        line(line_),
        column(column_) {}
  std::size_t line = 0, column = 0;
};

}  // namespace tessera::sass
