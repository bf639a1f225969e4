#include "cli/options/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "base/status.h"

namespace tessera::cli {
namespace {

std::string chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? "" : commands.front()->get_name();
}

std::string names_of_commands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

// The message for an option without a value, or given twice. The text of the library (CLI11)
// starts with the option's name.
std::string sentence_for_count(const std::string& text, const std::string& help) {
  const std::string name = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) {
    return fmt::format("{} was given without a value, but needs one; {}", name, help);
  }
  return fmt::format("{} was given more than once, but is taken once; {}", name, help);
}

// How this command takes a kernel, if the user named a kernel as in another command; else empty.
std::string other_way(const CLI::App& command, const std::string& unknown) {
  if (!unknown.starts_with('-')) {
    const bool has_option = command.get_option_no_throw("--kernel") != nullptr;
    return has_option ? "; --kernel names a kernel" : "";
  }
  if (unknown != "--kernel") return "";
  std::vector<std::string> places;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) places.push_back(option->get_name(true));
  }
  if (places.empty()) return "; the command takes no kernel";
  return fmt::format("; {} {} given without an option", fmt::join(places, " and "),
                     places.size() == 1 ? "is" : "are");
}

// The message for an error of the library: the argument, what is wrong with it, and the rule.
std::string sentence_for(const CLI::ParseError& error, const CLI::App& app) {
  const std::string command = chosen(app);
  const std::string help =
      fmt::format("'tessera {}{}--help' lists what there is", command, command.empty() ? "" : " ");
  const auto unknown = app.remaining(true);
  if (command.empty() && !unknown.empty() && !unknown.front().starts_with('-')) {
    return fmt::format("'{}' is not a command; it must be one of: {}", unknown.front(),
                       names_of_commands(app));
  }
  if (!unknown.empty()) {
    return fmt::format("argument '{}' is not known here{}; {}", unknown.front(),
                       other_way(*app.get_subcommands().front(), unknown.front()), help);
  }
  if (command.empty()) {
    return fmt::format("no command was given; it must be one of: {}", names_of_commands(app));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    return sentence_for_count(error.what(), help);
  }
  return fmt::format("{}; {}", error.what(), help);
}

// WHY: an empty value is often a variable that a script forgot to set. If it counted as not given,
// the command would do something else than the user meant.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty()) continue;
      throw StatusError(Status::bad_argument(fmt::format(
          "{} is '', but must not be empty; leave it out, or give a value", option->get_name())));
    }
  }
}

}  // namespace

Option Option::type_name(const std::string& name) const { return Option(option_->type_name(name)); }

Option Option::description(const std::string& description) const {
  return Option(option_->description(description));
}

Option Option::required() const { return Option(option_->required()); }

Option Option::expected(int values) const { return Option(option_->expected(values)); }

Option Option::one_value_each() const { return Option(option_->allow_extra_args(false)); }

Option Parser::add_option(const std::string& names, std::string& to, const std::string& help) {
  return Option(app_->add_option(names, to, help));
}

Option Parser::add_option(const std::string& names, std::vector<std::string>& to,
                          const std::string& help) {
  return Option(app_->add_option(names, to, help));
}

void Parser::add_flag(const std::string& names, bool& to, const std::string& help) {
  app_->add_flag(names, to, help);
}

Option Parser::get_option(const std::string& name) { return Option(app_->get_option(name)); }

std::vector<GivenOption> Parser::given() const {
  std::vector<GivenOption> given;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() == 0) continue;
    const bool is_flag = option->get_expected_max() == 0;
    given.push_back({option->get_name(), is_flag ? std::vector<std::string>{} : option->results()});
  }
  return given;
}

Program::Program(const std::string& summary, const std::string& version)
    : app_(std::make_unique<CLI::App>(summary)) {
  app_->name("tessera");
  app_->require_subcommand(1);
  app_->set_version_flag("--version", "tessera " + version);
  app_->get_formatter()->column_width(32);
  app_->footer("'tessera COMMAND --help' shows the options of a command, with examples.");
}

Program::~Program() = default;

Parser Program::add_command(const std::string& name, const std::string& summary,
                            const std::string& footer) {
  CLI::App* command = app_->add_subcommand(name, summary);
  command->footer(footer);
  return Parser(command);
}

bool Program::parse(const std::vector<std::string>& arguments) {
  try {
    app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help) {
    app_->exit(help);
    return false;
  } catch (const CLI::ParseError& error) {
    throw StatusError(Status::bad_argument(sentence_for(error, *app_)));
  }
  refuse_empty_values(*app_->get_subcommands().front());
  return true;
}

std::string Program::chosen_command() const { return chosen(*app_); }

}  // namespace tessera::cli
