// A command of the program: name, summary, examples, options, and function. Also the
// command line of this process.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tessera::cli {

class Parser;

// Exit codes of the program.
inline constexpr int kOk = 0;
inline constexpr int kCheckFailed = 1;    // a kernel gives wrong results
inline constexpr int kBadCall = 2;        // a bad argument, or something is missing
inline constexpr int kInterrupted = 130;  // Ctrl-C; earlier results are kept

struct Command {
  std::string name;
  std::string summary;
  std::string examples;
  // Declares the options on `parser`. Returns the function that runs after parsing, which returns
  // an exit code or throws StatusError.
  std::function<std::function<int()>(Parser& parser)> declare;
};

// The argument, quoted if a shell would otherwise change it: '0*' would become names of files.
std::string quoted(const std::string& argument);

// Stores the call of this process: the program's name as typed ("build/tessera"), all arguments.
void keep_call(const std::vector<std::string>& arguments, const std::string& called);

// The command line of this process ("tessera bench -m 8"), for the files that it writes.
const std::string& command_line();

// The command line, ready to paste: "build/tessera check" instead of "tessera check" if the program
// was started as "build/tessera".
std::string to_paste(std::string line);

}  // namespace tessera::cli
