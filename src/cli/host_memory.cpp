#include "cli/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "problem/status.h"

namespace tessera::cli {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// "MemAvailable:   12345 kB" of /proc/meminfo.
std::uint64_t memory_of_machine() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word) {
    std::uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && info >> kilobytes) return kilobytes * 1024;
  }
  return kUnlimited;
}

// What the control group of a container leaves; "max" where it sets no limit.
std::uint64_t memory_of_group() {
  std::uint64_t limit = 0, used = 0;
  std::ifstream limit_file("/sys/fs/cgroup/memory.max");
  std::ifstream used_file("/sys/fs/cgroup/memory.current");
  if (!(limit_file >> limit) || !(used_file >> used)) return kUnlimited;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::uint64_t available_host_memory() { return std::min(memory_of_machine(), memory_of_group()); }

void require_host_memory(std::uint64_t bytes, const std::string& what) {
  const std::uint64_t available = available_host_memory();
  if (bytes <= available) return;
  throw StatusError(
      Status::unavailable(fmt::format("{} needs {:.1f} GB of host memory, and {:.1f} GB are free",
                                      what, bytes * 1e-9, available * 1e-9)));
}

}  // namespace tessera::cli
