// Options of commands, declared without the header of the library that parses them: that header
// costs eight seconds in each file that includes it. Only parser.cpp does.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tessera::cli {

// A declared option; each of these returns it again.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option type_name(const std::string& name) const;  // name of its value in --help
  Option description(
      const std::string& description) const;  // replaces the one it was declared with
  Option required() const;
  Option expected(int values) const;
  Option one_value_each() const;  // for a list: the option is repeated for each value

 private:
  CLI::Option* option_;
};

// An option that a command line gives. A flag has no values.
struct GivenOption {
  std::string name;
  std::vector<std::string> values;
};

// The options of one command. What `to` holds stays as it is where the option is not given.
class Parser {
 public:
  explicit Parser(CLI::App* app) : app_(app) {}
  Option add_option(const std::string& names, std::string& to, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& to,
                    const std::string& help);
  void add_flag(const std::string& names, bool& to, const std::string& help);
  Option get_option(const std::string& name);
  std::vector<GivenOption> given() const;  // after the command line was parsed

 private:
  CLI::App* app_;
};

// The program's commands, and the result of parsing a command line.
class Program {
 public:
  Program(const std::string& summary, const std::string& version);
  ~Program();
  Parser add_command(const std::string& name, const std::string& summary,
                     const std::string& footer);

  // Fills what the options were declared to fill. False: help or version was requested and printed.
  // Throws kBadArgument: the argument, what is wrong with it, and the rule.
  bool parse(const std::vector<std::string>& arguments);
  std::string chosen_command() const;  // after parse(), if it threw, too; may be empty

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace tessera::cli
