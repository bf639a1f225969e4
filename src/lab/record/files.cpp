#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lab/record/record.h"

namespace tessera::lab {
namespace {

[[noreturn]] void refuse(std::string_view argument, const std::string& path, const char* reason) {
  throw StatusError(Status::bad_argument(
      fmt::format("{} is '{}', but it cannot be written: {}", argument, path, reason)));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns the file to which symbolic links lead, so that a rename replaces the file and not the
// link.
std::string resolved(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) ? std::string(buffer) : path;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Whether the path is a pipe or device ("/dev/null"), which cannot be replaced and is written
// directly.
bool is_special(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool write_to(const std::string& path, std::string_view text, int flags) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (file < 0) return false;
  const bool written = write_all(file, text);
  const int reason = errno;
  const bool closed = close(file) == 0;
  if (!written) errno = reason;
  return written && closed;
}

}  // namespace

void check_writable(const std::string& path, std::string_view argument) {
  if (path == "-") return;
  const std::string target = resolved(path), folder = folder_of(target);
  struct stat info {};
  if (path.empty()) refuse(argument, path, "the path is empty");
  if (stat(folder.c_str(), &info) != 0) refuse(argument, path, std::strerror(errno));
  if (!S_ISDIR(info.st_mode)) refuse(argument, path, "its folder is a file");
  const bool exists = stat(target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) refuse(argument, path, "it is a folder");
  if (exists && access(target.c_str(), W_OK) != 0) refuse(argument, path, std::strerror(errno));
  if (!is_special(target) && access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(argument, path, std::strerror(errno));
  }
}

void write_file(const std::string& path, std::string_view text, std::string_view argument) {
  if (path == "-") {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) refuse(argument, path, std::strerror(errno));
    return;
  }
  check_writable(path, argument);
  const std::string target = resolved(path);
  if (is_special(target)) {
    if (!write_to(target, text, 0)) refuse(argument, path, std::strerror(errno));
    return;
  }
  const std::string partial = fmt::format("{}.{}.partial", target, getpid());
  if (write_to(partial, text, O_CREAT | O_EXCL) &&
      std::rename(partial.c_str(), target.c_str()) == 0) {
    return;
  }
  const int reason = errno;
  unlink(partial.c_str());
  refuse(argument, path, std::strerror(reason));
}

}  // namespace tessera::lab
