// The program: its commands, and the choice of one by the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace tessera::cli {

std::vector<Command> all_commands();

// Runs one command line; `called` is the program's name in it. Writes one sentence to stderr when
// it is bad.
int run(const std::vector<std::string>& arguments, const std::string& called);

}  // namespace tessera::cli
