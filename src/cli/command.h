// What a command is: a name, a line about itself, examples, options, and what it does.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tessera::cli {

class Parser;

// Exit codes of the program.
inline constexpr int kOk = 0;
inline constexpr int kCheckFailed = 1;    // a kernel is wrong
inline constexpr int kBadCall = 2;        // a bad argument, or something is not there
inline constexpr int kInterrupted = 130;  // Ctrl-C; what was measured is kept

struct Command {
  std::string name;
  std::string summary;
  std::string examples;
  // Declares the options on `parser` and returns the function that runs after parsing; it returns
  // an exit code or throws StatusError.
  std::function<std::function<int()>(Parser& parser)> declare;
};

std::vector<Command> all_commands();

// The call that run() was given, "tessera bench -m 8", for the files that it writes.
const std::string& command_line();

// The same to paste: "build/tessera check" of "tessera check" where the program was called so.
std::string to_paste(std::string line);

// Runs one command line; `called` is the program's name in it. Writes one sentence to stderr when
// it is bad.
int run(const std::vector<std::string>& arguments, const std::string& called);

}  // namespace tessera::cli
