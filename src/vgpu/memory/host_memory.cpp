// A process cannot have all physical memory: other processes use some, and a container may allow
// less.
#include "vgpu/memory/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tessera::vgpu {
namespace {

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

// "MemAvailable:   12345 kB"
std::size_t available_of_the_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::size_t kilobytes; file >> name >> kilobytes;) {
    if (name == "MemAvailable:") return kilobytes * 1024;
    std::getline(file, unit);
  }
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t number_in(const char* path) {
  std::size_t value = kUnknown;
  std::ifstream(path) >> value;  // "max" leaves a 0
  return value == 0 ? kUnknown : value;
}

std::size_t available_in_the_group() {
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t available_host_memory() {
  return std::min(available_of_the_machine(), available_in_the_group());
}

}  // namespace tessera::vgpu
