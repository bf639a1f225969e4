#include "tests/support/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/beside.h"

namespace tessera {

[[noreturn]] void become_program(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment, int out, int err,
                                 const std::string& program) {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
  }
  const std::string path = program.empty() ? beside_test("tessera") : program;
  // By a name without a folder, which is what it prints for calls to repeat.
  const std::string name = "tessera";
  std::vector<char*> argv = {const_cast<char*>(name.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  _exit(127);
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string file_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Ran run_program(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment, const std::string& program) {
  const TemporaryFolder folder;
  const int flags = O_CREAT | O_WRONLY | O_TRUNC;
  const int out = open((folder / "out").c_str(), flags, 0600);
  const int err = open((folder / "err").c_str(), flags, 0600);
  const pid_t child = fork();
  if (child == 0) become_program(arguments, environment, out, err, program);
  close(out);
  close(err);
  Ran ran;
  ran.code = exit_code_of(child);
  ran.out = file_text(folder / "out");
  ran.err = file_text(folder / "err");
  return ran;
}

pid_t start_program(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_WRONLY);
    become_program(arguments, {}, nothing, nothing);
  }
  return child;
}

namespace {

// The program, with what it prints in a pipe.
struct Piped {
  pid_t child;
  int out;
};

Piped start_piped(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    become_program(arguments, {}, ends[1], open("/dev/null", O_WRONLY));
  }
  close(ends[1]);
  return {child, ends[0]};
}

Ran end_of(const Piped& program, std::string out) {
  close(program.out);
  Ran ran;
  ran.out = std::move(out);
  ran.code = exit_code_of(program.child);
  return ran;
}

}  // namespace

Ran interrupt_program(const std::vector<std::string>& arguments, int lines, int signal) {
  const Piped program = start_piped(arguments);
  std::string out;
  for (char c; read(program.out, &c, 1) == 1;) {
    out += c;
    if (c == '\n' && --lines == 0) kill(program.child, signal);
  }
  return end_of(program, std::move(out));
}

Ran run_program_for_head(const std::vector<std::string>& arguments, int lines) {
  const Piped program = start_piped(arguments);
  std::string out;
  for (char c; lines > 0 && read(program.out, &c, 1) == 1;) {
    out += c;
    lines -= c == '\n';
  }
  return end_of(program, std::move(out));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

lab::Json json_of(std::vector<std::string> call) {
  call.insert(call.end(), {"--json", "-"});
  const Ran ran = run_program(call);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return lab::Json::parse(ran.out);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tessera_test_XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace tessera
