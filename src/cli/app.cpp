// From a command line to a command, and from whatever goes wrong to one sentence and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/status.h"
#include "cli/command.h"
#include "cli/options/repeat.h"
#include "cli/version.h"

namespace tessera::cli {
namespace {

// WHY: a message quotes arguments and files, which may hold line breaks and terminal commands.
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

std::string names_of_commands() {
  std::string names;
  for (const Command& command : all_commands()) {
    names += (names.empty() ? "" : ", ") + command.name;
  }
  return names;
}

std::string chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "" : chosen.front()->get_name();
}

// An option with no value, or one given twice: the parser's text starts with the option's name.
std::string sentence_for_count(const std::string& text, const std::string& help) {
  const std::string name = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) {
    return fmt::format("{} was given without a value, but needs one; {}", name, help);
  }
  return fmt::format("{} was given more than once, but is taken once; {}", name, help);
}

// One sentence for an error of the parser: the argument, what is wrong with it, and the rule.
std::string sentence_for(const CLI::ParseError& error, const CLI::App& app) {
  const std::string command = chosen_command(app);
  const std::string help =
      fmt::format("'tessera {}{}--help' lists what there is", command, command.empty() ? "" : " ");
  const auto unknown = app.remaining(true);
  if (command.empty() && !unknown.empty() && !unknown.front().starts_with('-')) {
    return fmt::format("'{}' is not a command; it must be one of: {}", unknown.front(),
                       names_of_commands());
  }
  if (!unknown.empty()) {
    return fmt::format("argument '{}' is not known here; {}", unknown.front(), help);
  }
  if (command.empty()) {
    return fmt::format("no command was given; it must be one of: {}", names_of_commands());
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    return sentence_for_count(error.what(), help);
  }
  return fmt::format("{}; {}", error.what(), help);
}

// WHY: an option that is there but empty is a variable that a script forgot to set; taken as not
// given, it would run something else than what was meant.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty()) continue;
      throw StatusError(
          Status::bad_argument(fmt::format("{} is '', but must not be empty", option->get_name())));
    }
  }
}

// WHY: a disk that is full or a stdout that is closed must not look like success.
void require_stdout_written() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  throw StatusError(Status::unavailable(
      fmt::format("standard output cannot be written: {}", std::strerror(errno))));
}

// The message of an exception in flight, and its exit code.
int explain_exception(const std::string& command) {
  try {
    throw;
  } catch (const StatusError& error) {
    const bool failed = error.status().code == StatusCode::kFailed;
    return complain(command, error.what(), failed ? kCheckFailed : kBadCall);
  } catch (const std::bad_alloc&) {
    return complain(command, "not enough host memory; choose a smaller problem", kBadCall);
  } catch (const std::length_error&) {  // a vector beyond any memory
    return complain(command, "not enough host memory; choose a smaller problem", kBadCall);
  } catch (const std::system_error& error) {
    // fmt::print writes to nothing but standard output here.
    if (std::string_view(error.what()).starts_with("cannot write to file")) {
      const std::string why = error.code().message();
      return complain(command, fmt::format("standard output cannot be written: {}", why), kBadCall);
    }
    return complain(command, fmt::format("internal error: {}", error.what()), kBadCall);
  } catch (const std::exception& error) {
    return complain(command, fmt::format("internal error: {}", error.what()), kBadCall);
  }
}

std::string the_command_line = "tessera";

void describe_program(CLI::App& app) {
  app.name("tessera");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("tessera ") + kVersion);
  app.get_formatter()->column_width(32);
  app.footer("'tessera COMMAND --help' shows the options of a command, with examples.");
}

}  // namespace

std::vector<Command> all_commands() {
  return {
#define TESSERA_COMMAND(name) name##_command(),
#include "cli/commands.inc"
#undef TESSERA_COMMAND
  };
}

const std::string& command_line() { return the_command_line; }

int run(const std::vector<std::string>& arguments) {
  the_command_line = "tessera";
  for (const std::string& argument : arguments) the_command_line += " " + quoted(argument);
  CLI::App app("Matrix multiplication kernels that run, are verified and are explained.");
  describe_program(app);
  std::map<std::string, std::function<int()>> actions;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer("Examples:\n" + command.examples);
    actions[command.name] = command.declare(*sub);
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return complain(chosen_command(app), sentence_for(error, app), kBadCall);
  }
  const std::string command = chosen_command(app);
  try {
    refuse_empty_values(*app.get_subcommands().front());
    const int code = actions.at(command)();
    require_stdout_written();
    return code;
  } catch (...) {
    return explain_exception(command);
  }
}

}  // namespace tessera::cli
