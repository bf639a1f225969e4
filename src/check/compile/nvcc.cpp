#include "check/compile/nvcc.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "base/numbers.h"
#include "base/status.h"
#include "check/compile/compiled_cache.h"
#include "check/compile/removed_names.h"
#include "lab/data/npy_header.h"

namespace tessera::checking {
namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> usual_places() {
  std::vector<std::string> places;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = from_environment(name); !home.empty()) {
      places.push_back(home + "/bin/nvcc");
    }
  }
  for (const std::string& folder : split(from_environment("PATH"), ':')) {
    if (!folder.empty()) places.push_back(folder + "/nvcc");
  }
  glob_t found{};
  if (glob("/usr/local/cuda*/bin/nvcc", 0, nullptr, &found) == 0) {
    places.insert(places.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  places.push_back((program.parent_path() / "cuda/nvidia/cu13/bin/nvcc").string());
  return places;
}

// A temporary folder that the destructor removes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "tessera-XXXXXX").string();
    if (error || !mkdtemp(path_.data())) {
      throw StatusError(Status::unavailable(
          fmt::format("no temporary folder can be made ({})", std::strerror(errno))));
    }
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs a program and writes its output to a file. Returns the exit code.
int run(const std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw StatusError(Status::unavailable(
        fmt::format("{} cannot be started: {}", words[0], std::strerror(errno))));
  }
  if (child == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file < 0 ? STDERR_FILENO : file, STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Shows the compiler's messages, only if the file does not compile: warnings of a file that
// compiles are of no use here.
void show_output(const std::string& path) {
  const std::string text = lab::read_whole_file(path, "the compiler's messages");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// Remarks about the source, as comments at the end of the PTX, so that the cache keeps them.
constexpr const char* kReplaced = "// compiled with ";
constexpr const char* kOutOfRange = "// subscript out of range: ";

const std::string& told(const std::string& ptx) {
  for (const char* begin : {kReplaced, kOutOfRange}) {
    const std::size_t at = ptx.rfind(begin);
    if (at == ptx.npos || (at != 0 && ptx[at - 1] != '\n')) continue;
    fmt::print(stderr, "note: {}\n", ptx.substr(at + 3, ptx.find('\n', at) - at - 3));
  }
  return ptx;
}

// Returns a comment with the places at which constant indices leave their arrays: "a.cu(4): warning
// #175-D: subscript out of range". The compiler considers such code impossible and drops all code
// that depends on the index.
std::string note_of_ranges(const std::string& said) {
  std::istringstream lines(said);
  std::vector<std::string> places;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(": warning #175-D");
    if (at != line.npos && places.size() < 4) places.push_back(line.substr(0, at));
  }
  if (places.empty()) return "";
  return fmt::format("{}{}; the compiler drops what comes of it, --nvcc-arg -G keeps it\n",
                     kOutOfRange, fmt::join(places, ", "));
}

// Returns a comment on the names that were replaced: "cudaThreadSynchronize for
// cudaDeviceSynchronize".
std::string note_of(const std::vector<std::string>& replacements) {
  if (replacements.empty()) return "";
  std::string text = kReplaced;
  for (const std::string& one : replacements) {
    const std::size_t space = one.find(' ');
    text += (one == replacements[0] ? "" : ", ") + one.substr(space + 1) + " for " +
            one.substr(0, space);
  }
  return text + ": this CUDA has no such names\n";
}

std::string header_of(const std::vector<std::string>& replacements) {
  std::string text;
  for (const std::string& one : replacements) text += "#define " + one + "\n";
  return text;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

// Removes the generated header from the list of files that the PTX depends on, because the header
// disappears with the temporary folder.
void leave_out(const std::string& header, const std::string& files) {
  std::string text = lab::read_whole_file(files, "the compiler's list of files");
  const std::size_t at = text.find(header);
  if (at == text.npos) return;
  write(files, text.erase(at, header.size()));
}

bool names_architecture(const std::string& argument) {
  for (const char* option : {"-arch", "--gpu-architecture", "-gencode", "--generate-code"}) {
    if (argument.starts_with(option)) return true;
  }
  return false;
}

}  // namespace

std::string find_nvcc() {
  for (const char* name : {"NVCC", "CUDACXX"}) {
    const std::string path = from_environment(name);
    if (path.empty()) continue;
    if (is_program(path)) return path;
    throw StatusError(
        Status::bad_argument(fmt::format("{} is '{}', but there is no such program", name, path)));
  }
  for (const std::string& place : usual_places()) {
    if (is_program(place)) return place;
  }
  throw StatusError(Status::unavailable(
      "this needs nvcc, and there is none in NVCC, CUDA_HOME, PATH or /usr/local/cuda; "
      "install the CUDA toolkit, or 'pip install nvidia-cuda-nvcc' and set NVCC to its bin/nvcc, "
      "or "
      "give a .ptx file made elsewhere with 'nvcc -ptx -arch=sm_90a -lineinfo'"));
}

std::string compile_to_ptx(const std::string& source, const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const std::string ptx = folder / "kernel.ptx", files = folder / "files", said = folder / "said";
  std::vector<std::string> words = {find_nvcc(), "-ptx", "-lineinfo", "-Xcudafe",
                                    "--diag_warning=175"};
  if (std::none_of(arguments.begin(), arguments.end(), names_architecture)) {
    words.push_back("-arch=sm_90a");
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(source);
  const CompiledCache cache(words);
  if (const std::optional<std::string> known = cache.find()) return told(*known);
  for (const std::string& word :
       {std::string("-o"), ptx, std::string("-MD"), std::string("-MF"), files}) {
    words.push_back(word);
  }
  int code = run(words, said);
  std::vector<std::string> replacements;
  if (code != 0) {
    replacements = replacements_for(lab::read_whole_file(said, "the compiler's messages"));
    const std::string again = folder / "said_again";
    if (!replacements.empty()) {
      const std::string header = folder / "names.h";
      write(header, header_of(replacements));
      words.insert(words.begin() + 1, {"-include", header});
      code = run(words, again);
      if (code == 0) leave_out(header, files);
    }
  }
  if (code == 0) {
    const std::string text = lab::read_whole_file(ptx, "the compiler's output") +
                             note_of_ranges(lab::read_whole_file(said, "the compiler's messages")) +
                             note_of(replacements);
    cache.keep(text, files);
    return told(text);
  }
  show_output(said);
  const std::string errors = lab::read_whole_file(said, "the compiler's messages");
  const bool launches = errors.find("requires separate compilation mode") != errors.npos;
  throw StatusError(Status::bad_argument(fmt::format(
      "'{}' does not compile: nvcc ended with exit code {}{}", source, code,
      launches ? "; kernels that launch kernels do not run here: take such launches out, with "
                 "#ifdef, and check each kernel by a call of its own"
               : "")));
}

std::string target_of(std::string_view ptx) {
  const std::size_t at = ptx.find(".target ");
  if (at == ptx.npos) return "sm_90a";
  const std::size_t begin = at + 8;
  return std::string(ptx.substr(begin, ptx.find_first_of(" ,\r\n", begin) - begin));
}

std::vector<std::byte> assemble_ptx(std::string_view ptx, const std::string& arch,
                                    Messages messages) {
  const TemporaryFolder folder;
  const std::string text = folder / "kernel.ptx", cubin = folder / "kernel.cubin";
  write(text, std::string(ptx));
  const std::string said = folder / "said";
  const int code = run({find_nvcc(), "-cubin", "-arch=" + arch, "-o", cubin, text}, said);
  if (code != 0) {
    if (messages == Messages::kShown) show_output(said);
    throw StatusError(Status::unsupported(fmt::format(
        "the PTX cannot be assembled for {}: nvcc ended with exit code {}", arch, code)));
  }
  const std::string bytes = lab::read_whole_file(cubin, "the assembler's output");
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

}  // namespace tessera::checking
