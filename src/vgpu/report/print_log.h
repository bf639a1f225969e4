// The output of printf() in kernels. Clusters run at the same time, so the log keeps lines by
// cluster and returns them in the order of the grid: the text is the same in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tessera::vgpu {

class PrintLog {
 public:
  // `cluster` is any number that grows with the cluster. Safe to call from several threads.
  void add(std::uint64_t cluster, const std::string& text);
  // Returns the output of all clusters, one cluster after the other.
  std::string text() const;
  // The number of printf() calls whose output did not fit into the log.
  std::uint64_t dropped() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::string> by_cluster_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace tessera::vgpu
