#include "cli/command.h"

namespace tessera::cli {
namespace {

std::string the_command_line = "tessera", the_program = "tessera";

}  // namespace

std::string quoted(const std::string& argument) {
  const bool plain = argument.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "-_=+,./:@%") == std::string::npos;
  if (plain && !argument.empty()) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

void keep_call(const std::vector<std::string>& arguments, const std::string& called) {
  if (called.find('/') != std::string::npos) the_program = quoted(called);
  the_command_line = "tessera";
  for (const std::string& argument : arguments) the_command_line += " " + quoted(argument);
}

const std::string& command_line() { return the_command_line; }

std::string to_paste(std::string line) {
  if (!line.starts_with("tessera ")) return line;
  return line.replace(0, std::string("tessera").size(), the_program);
}

}  // namespace tessera::cli
