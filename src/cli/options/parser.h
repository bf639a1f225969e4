// Options of commands, without the header of the library that parses them (CLI11): that header
// costs eight seconds in each file that includes it, so only parser.cpp does.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tessera::cli {

// A declared option. Each function changes the option and returns it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option type_name(const std::string& name) const;  // name of the option's value in --help
  Option description(
      const std::string& description) const;  // replaces the description from the declaration
  Option required() const;
  Option expected(int values) const;
  Option one_value_each() const;  // for a list: one value per occurrence of the option

 private:
  CLI::Option* option_;
};

// An option on the command line, with its values. A flag has no values.
struct GivenOption {
  std::string name;
  std::vector<std::string> values;
};

// Declares the options of one command. If an option is not given, its variable `to` stays as it is.
class Parser {
 public:
  explicit Parser(CLI::App* app) : app_(app) {}
  Option add_option(const std::string& names, std::string& to, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& to,
                    const std::string& help);
  void add_flag(const std::string& names, bool& to, const std::string& help);
  Option get_option(const std::string& name);
  std::vector<GivenOption> given() const;  // only after the command line was parsed

 private:
  CLI::App* app_;
};

// All commands of the program, and the result of parsing a command line.
class Program {
 public:
  Program(const std::string& summary, const std::string& version);
  ~Program();
  Parser add_command(const std::string& name, const std::string& summary,
                     const std::string& footer);

  // Parses the arguments, and sets the variables of the options. False: help or version was
  // printed. Throws kBadArgument with the argument, what is wrong with it, and the rule.
  bool parse(const std::vector<std::string>& arguments);
  std::string chosen_command() const;  // after parse(), even if it threw; may be empty

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace tessera::cli
