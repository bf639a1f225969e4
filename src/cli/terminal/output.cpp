#include "cli/terminal/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/options/parser.h"

namespace tessera::cli {
namespace {

constexpr const char* kStdout = "-";

// Whether both paths name one file, which need not exist yet.
bool same_place(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  if (one == other) return true;
  if (one == kStdout || other == kStdout) return false;
  std::error_code error, other_error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(one), error) ==
             std::filesystem::weakly_canonical(std::filesystem::absolute(other), other_error) &&
         !error && !other_error;
}

bool reader_is_gone = false;

// Writes to stdout. Bytes for a closed pipe count as written. Returns 0 after an error.
ssize_t write_or_drop(void*, const char* text, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes && !reader_is_gone;) {
    const ssize_t count = write(STDOUT_FILENO, text + done, bytes - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EPIPE) {
      reader_is_gone = true;
    } else if (errno != EINTR) {
      return 0;
    }
  }
  return static_cast<ssize_t>(bytes);
}

// WHY: "tessera ladder --json FILE | head -1" must still write FILE. By default, writing to a
// closed pipe would end the program, and later prints would throw.
void outlive_reader_of_stdout() {
  struct stat info {};
  static bool done = false;
  if (done || fstat(STDOUT_FILENO, &info) != 0) return;
  if (!S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode)) return;
  std::signal(SIGPIPE, SIG_IGN);
  cookie_io_functions_t functions{};
  functions.write = write_or_drop;
  if (std::FILE* file = fopencookie(nullptr, "w", functions)) {
    std::fflush(stdout);
    stdout = file;
    done = true;
  }
}

}  // namespace

void Output::add_options(Parser& parser) {
  parser.add_option("--json", json, "write JSON ('-': to stdout, which then has nothing else)")
      .type_name("PATH");
  parser.add_option("--csv", csv, "write the table as CSV").type_name("PATH");
  parser.add_option("--md", markdown, "write the table as markdown").type_name("PATH");
}

void Output::check(const std::vector<NamedPath>& files_of_the_call) const {
  std::vector<NamedPath> taken = files_of_the_call;
  for (const NamedPath& output :
       {NamedPath{"--json", json}, NamedPath{"--csv", csv}, NamedPath{"--md", markdown}}) {
    if (output.path.empty()) continue;
    for (const NamedPath& other : taken) {
      if (!same_place(output.path, other.path)) continue;
      throw StatusError(Status::bad_argument(
          fmt::format("{} is '{}', but must not be the same place as {}; give it another path",
                      output.name, output.path, other.name)));
    }
    taken.push_back(output);
    if (output.path == kStdout) continue;
    lab::check_writable(output.path, output.name);
    outlive_reader_of_stdout();
  }
}

bool Output::prints_text() const {
  return json != kStdout && csv != kStdout && markdown != kStdout;
}

Output Output::files_only() const {
  const auto file = [](const std::string& path) { return path == kStdout ? std::string() : path; };
  return {file(json), file(csv), file(markdown)};
}

void Output::write(const lab::Json& object, const Table& table) const {
  // WHY: paths and source lines may hold any bytes, but JSON must be UTF-8.
  const auto lenient = lab::Json::error_handler_t::replace;
  if (!json.empty()) {
    lab::write_file(json, object.dump(1, ' ', false, lenient) + "\n", "--json");
  }
  if (!csv.empty()) lab::write_file(csv, render(table, Format::kCsv), "--csv");
  if (!markdown.empty()) lab::write_file(markdown, render(table, Format::kMarkdown), "--md");
}

}  // namespace tessera::cli
