#include "vgpu/report/print_log.h"

namespace tessera::vgpu {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;

}  // namespace

void PrintLog::add(std::uint64_t cluster, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + text.size() > kMostBytes) {
    ++dropped_;
    return;
  }
  bytes_ += text.size();
  by_cluster_[cluster] += text;
}

std::string PrintLog::text() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const auto& [cluster, text] : by_cluster_) all += text;
  return all;
}

std::uint64_t PrintLog::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace tessera::vgpu
