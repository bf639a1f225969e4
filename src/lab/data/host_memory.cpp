#include "lab/data/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/status.h"

namespace tessera::lab {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// Returns the available memory: "MemAvailable:   12345 kB" of /proc/meminfo.
std::uint64_t memory_of_machine() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word) {
    std::uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && info >> kilobytes) return kilobytes * 1024;
  }
  return kUnlimited;
}

// Returns the bytes of cached files that Linux counts as memory of the control group, but releases
// when memory is needed.
std::uint64_t cached_files_of_group() {
  std::ifstream stat("/sys/fs/cgroup/memory.stat");
  std::uint64_t sum = 0, bytes = 0;
  for (std::string name; stat >> name >> bytes;) {
    if (name == "inactive_file" || name == "active_file") sum += bytes;
  }
  return sum;
}

// Returns the memory that is left below the limit of the container's control group. The limit "max"
// means that there is no limit.
std::uint64_t memory_of_group() {
  std::uint64_t limit = 0, used = 0;
  std::ifstream limit_file("/sys/fs/cgroup/memory.max");
  std::ifstream used_file("/sys/fs/cgroup/memory.current");
  if (!(limit_file >> limit) || !(used_file >> used)) return kUnlimited;
  used -= std::min(used, cached_files_of_group());
  return limit > used ? limit - used : 0;
}

}  // namespace

std::uint64_t available_host_memory() { return std::min(memory_of_machine(), memory_of_group()); }

void require_host_memory(double bytes, const std::string& what) {
  const auto available = static_cast<double>(available_host_memory());
  if (bytes <= available) return;
  const std::string needed =
      bytes < 1e15 ? fmt::format("{:.1f}", bytes * 1e-9) : fmt::format("{:.2g}", bytes * 1e-9);
  throw StatusError(Status::unavailable(fmt::format(
      "{} needs {} GB of host memory, and {:.1f} GB are free", what, needed, available * 1e-9)));
}

}  // namespace tessera::lab
