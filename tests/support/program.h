// Runs the real program as a person would, and keeps what it said.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "lab/record/record.h"

namespace tessera {

struct Ran {
  int code = -1;
  std::string out, err;
};

// Environment entries are "NAME=value". No argument needs quoting. `program`: another file than the
// one beside the test.
Ran run_program(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment = {}, const std::string& program = {});

// Starts the program with nothing to print to, and does not wait for it.
pid_t start_program(const std::vector<std::string>& arguments);

// Starts the program, reads its stdout until `lines` lines are there, sends the signal (Ctrl-C is
// SIGINT), reads the rest.
Ran interrupt_program(const std::vector<std::string>& arguments, int lines, int signal);

// Starts the program, reads its stdout until `lines` lines are there and closes it, as head does.
Ran run_program_for_head(const std::vector<std::string>& arguments, int lines);

// In a child: stdout and stderr to these descriptors, then the program.
[[noreturn]] void become_program(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment, int out, int err,
                                 const std::string& program = {});
// Waits for it; 128 and the signal where one ended it.
int exit_code_of(pid_t child);

bool contains(const std::string& text, const std::string& part);
// What a call that must succeed says with --json -.
lab::Json json_of(std::vector<std::string> call);

std::string file_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

// A folder that is empty at first and removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const;

 private:
  std::string path_;
};

}  // namespace tessera
