// The program: the list of commands, and the function that runs the command of a command line.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace tessera::cli {

std::vector<Command> all_commands();

// Runs one command line and returns the exit code. `called` is the program's name as typed. If the
// command line is bad, writes one sentence to stderr.
int run(const std::vector<std::string>& arguments, const std::string& called);

}  // namespace tessera::cli
