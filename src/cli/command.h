// A command: its name, a line about it, examples, options, and its function. Also the command line
// that selected it.
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

// The argument quoted for a shell, where '0*' would otherwise name files.
std::string quoted(const std::string& argument);

// Keeps the call of this process: the program's name as typed, "build/tessera", and all arguments.
void keep_call(const std::vector<std::string>& arguments, const std::string& called);

// The command line of this process ("tessera bench -m 8"), for the files that it writes.
const std::string& command_line();

// The same line, ready to paste: "build/tessera check" for "tessera check" if the program was
// started by that name.
std::string to_paste(std::string line);

}  // namespace tessera::cli
