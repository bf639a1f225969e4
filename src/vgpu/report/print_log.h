// The output of printf() in kernels. Clusters run at the same time, so lines are kept by cluster
// and read in the order of the grid: the same text in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tessera::vgpu {

class PrintLog {
 public:
  // `cluster`: anything that counts up with the cluster. Safe to call from several threads.
  void add(std::uint64_t cluster, const std::string& text);
  // Everything, clusters one after the other.
  std::string text() const;
  // Prints that found the log full.
  std::uint64_t dropped() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::string> by_cluster_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace tessera::vgpu
