// Runs the command that a command line names. Turns every error into one
// sentence and an exit code.
#include "cli/app/app.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/status.h"
#include "catalog/image_pack.h"
#include "cli/options/fields.h"
#include "cli/options/parser.h"
#include "cli/version.h"

namespace tessera::cli {
namespace {

// WHY: a message quotes arguments and files, which may contain line breaks and control characters.
std::string one_line(std::string text) {
  for (char& c : text) {
    if ((c >= 0 && c < ' ') || c == '\x7f') c = '?';
  }
  return text;
}

int complain(const std::string& command, const std::string& message, int code) {
  const std::string name = command.empty() ? "tessera" : "tessera " + command;
  fmt::print(stderr, "{}: {}\n", name, one_line(message));
  return code;
}

constexpr const char* kFreeStdout = "free space there, or send it elsewhere";

// WHY: a full disk or a closed stdout must not look like success.
void require_stdout_written() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  throw StatusError(Status::unavailable(
      fmt::format("standard output cannot be written: {}; {}", std::strerror(errno), kFreeStdout)));
}

// Writes the message of the exception that is being handled, and returns the exit code.
int explain_exception(const std::string& command) {
  try {
    throw;
  } catch (const StatusError& error) {
    const bool failed = error.status().code == StatusCode::kFailed;
    return complain(command, in_options(error.what()), failed ? kCheckFailed : kBadCall);
  } catch (const std::bad_alloc&) {
    return complain(command, "not enough host memory; choose a smaller problem", kBadCall);
  } catch (const std::length_error&) {  // a vector larger than any memory
    return complain(command, "not enough host memory; choose a smaller problem", kBadCall);
  } catch (const std::system_error& error) {
    // WHY: fmt::print throws this error if standard output cannot be written.
    if (std::string_view(error.what()).starts_with("cannot write to file")) {
      const std::string why = error.code().message();
      return complain(command,
                      fmt::format("standard output cannot be written: {}; {}", why, kFreeStdout),
                      kBadCall);
    }
    return complain(command, fmt::format("internal error: {}", error.what()), kBadCall);
  } catch (const std::exception& error) {
    return complain(command, fmt::format("internal error: {}", error.what()), kBadCall);
  }
}

// Reads "explain FILE.cu ..." as a call of check, and "-std=c++17" (for nvcc) as "--std=c++17".
std::vector<std::string> as_parsed(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    if (argument.starts_with("-std=")) argument.insert(0, "-");
  }
  if (arguments.size() < 2 || arguments[0] != "explain") return arguments;
  if (!arguments[1].ends_with(".cu") && !arguments[1].ends_with(".ptx")) return arguments;
  arguments[0] = "check";
  arguments.push_back("--only-cost");
  return arguments;
}

// The command name that the user typed, for messages.
std::string typed_command(const Program& program, const std::vector<std::string>& arguments) {
  const std::string chosen = program.chosen_command();
  return chosen.empty() ? chosen : arguments.front();
}

}  // namespace

// WHY include the list here: a new command compiles only its own file and this one.
#define TESSERA_COMMAND(name) Command name##_command();
#include "cli/commands.inc"
#undef TESSERA_COMMAND

std::vector<Command> all_commands() {
  return {
#define TESSERA_COMMAND(name) name##_command(),
#include "cli/commands.inc"
#undef TESSERA_COMMAND
  };
}

int run(const std::vector<std::string>& arguments, const std::string& called) {
  keep_call(arguments, called);
  expect_images_of(build_commit());
  Program program("Matrix multiplication kernels that run, are verified and are explained.",
                  fmt::format("{} (commit {})", kVersion, build_commit()));
  std::map<std::string, std::function<int()>> actions;
  for (const Command& command : all_commands()) {
    Parser parser =
        program.add_command(command.name, command.summary, "Examples:\n" + command.examples);
    actions[command.name] = command.declare(parser);
  }
  try {
    if (!program.parse(as_parsed(arguments))) return kOk;
    const int code = actions.at(program.chosen_command())();
    require_stdout_written();
    return code;
  } catch (...) {
    return explain_exception(typed_command(program, arguments));
  }
}

}  // namespace tessera::cli
