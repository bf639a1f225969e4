// Runs the real program in a terminal of so many columns, and keeps what a person would see.
#pragma once

#include <string>
#include <vector>

#include "tests/support/program.h"

namespace tessera {

// What is on the screen at the end. Knows what our program writes: lines, return, "erase the rest".
class Screen {
 public:
  explicit Screen(int columns) : columns_(columns) {}

  void write(std::string_view text);
  // Without spaces at their ends. A line that did not fit goes on in the next one.
  const std::vector<std::string>& lines() const { return lines_; }
  bool has_wrapped() const { return wrapped_; }
  std::string text() const;

 private:
  void put(char c);
  void erase_to_the_end();

  int columns_;
  std::vector<std::string> lines_ = {""};
  std::size_t column_ = 0;
  bool wrapped_ = false;
  std::string escape_;  // of a sequence that has begun
};

struct RanInTerminal {
  int code = -1;
  std::string bytes;  // all that the terminal was sent
  Screen screen;
  Ran elsewhere;  // what went to files instead
};

enum class InTerminal { kAll, kOut, kErr };  // the other one goes to a file

RanInTerminal run_in_terminal(const std::vector<std::string>& arguments, int columns,
                              InTerminal which = InTerminal::kAll);

// Presses Ctrl-C once these bytes have come.
RanInTerminal interrupt_in_terminal(const std::vector<std::string>& arguments, int columns,
                                    const std::string& bytes);

}  // namespace tessera
