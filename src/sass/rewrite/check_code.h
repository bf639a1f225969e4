// Runs the hazard checker on a whole cubin, for code that a person has changed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sass/model/flow.h"

namespace tessera::sass {

struct CheckedKernel {
  std::string name;
  std::string not_checked;           // the reason; "" if it was checked
  std::vector<std::string> hazards;  // a sentence each
};
// Throws std::runtime_error if the file is not a cubin.
std::vector<CheckedKernel> check_code(std::span<const std::byte> cubin);

// Returns a sentence if hazards of this code cannot be judged because it uses something that the
// analysis does not follow.
std::string reason_not_to_check(const Program& program);

}  // namespace tessera::sass
