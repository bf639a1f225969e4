#include "tests/support/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace tessera {
namespace {

// Bytes of UTF-8 after the first of a character take no column.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string without_spaces_at_the_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Screen::erase_to_the_end() { lines_.back().resize(std::min(lines_.back().size(), column_)); }

void Screen::put(char c) {
  std::string& line = lines_.back();
  if (continues(c)) {
    line += c;
    return;
  }
  if (column_ == static_cast<std::size_t>(columns_)) {
    wrapped_ = true;
    lines_.emplace_back();
    column_ = 0;
    return put(c);
  }
  if (line.size() <= column_) line.resize(column_ + 1, ' ');
  line[column_++] = c;
}

void Screen::write(std::string_view text) {
  for (const char c : text) {
    if (!escape_.empty() || c == '\x1b') {
      escape_ += c;
      if (escape_ == "\x1b[K") erase_to_the_end();
      const bool is_whole = escape_.size() > 2 && c >= '@';
      if (is_whole) escape_.clear();
    } else if (c == '\r') {
      column_ = 0;
    } else if (c == '\n') {
      lines_.emplace_back();
      column_ = 0;
    } else {
      put(c);
    }
  }
}

std::string Screen::text() const {
  std::string text;
  for (const std::string& line : lines_) text += without_spaces_at_the_end(line) + "\n";
  return text;
}

namespace {

RanInTerminal run(const std::vector<std::string>& arguments, int columns, InTerminal which,
                  const std::string& then_interrupted) {
  const TemporaryFolder folder;
  const std::string path = folder / "elsewhere";
  const winsize size{.ws_row = 50, .ws_col = static_cast<unsigned short>(columns)};
  int terminal = -1, end = -1;
  if (openpty(&terminal, &end, nullptr, nullptr, &size) != 0) throw std::runtime_error("no pty");
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  const pid_t child = fork();
  if (child == 0) {
    close(terminal);
    become_program(arguments, {}, which == InTerminal::kErr ? file : end,
                   which == InTerminal::kOut ? file : end);
  }
  close(end);
  close(file);
  RanInTerminal ran{.screen = Screen(columns)};
  char some[4096];
  bool waits = !then_interrupted.empty();
  for (ssize_t n; (n = read(terminal, some, sizeof some)) > 0;) {
    ran.bytes.append(some, n);
    if (!waits || !contains(ran.bytes, then_interrupted)) continue;
    waits = false;
    kill(child, SIGINT);
  }
  close(terminal);
  ran.code = exit_code_of(child);
  ran.screen.write(ran.bytes);
  (which == InTerminal::kErr ? ran.elsewhere.out : ran.elsewhere.err) = file_text(path);
  return ran;
}

}  // namespace

RanInTerminal run_in_terminal(const std::vector<std::string>& arguments, int columns,
                              InTerminal which) {
  return run(arguments, columns, which, "");
}

RanInTerminal interrupt_in_terminal(const std::vector<std::string>& arguments, int columns,
                                    const std::string& bytes) {
  return run(arguments, columns, InTerminal::kAll, bytes);
}

}  // namespace tessera
