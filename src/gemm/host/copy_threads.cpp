#include "gemm/host/copy_threads.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>

namespace tessera::gemm::host {
namespace {

// HW: PCIe 5 x16 is as fast as the copies of several cores together (H200 host).
constexpr std::size_t kMostThreads = 8;
// WHY not every core: other threads of the program, and those of OpenBLAS, which spin for a while
// after a call, would delay a copy.
constexpr std::size_t kCoresPerThread = 4;
constexpr std::size_t kPartBytes = std::size_t{128} << 10;
// Copies of fewer bytes are not worth the traffic between cores.
constexpr std::size_t kLeastBytes = std::size_t{512} << 10;
constexpr std::size_t kPiece = 4096;  // bytes; a copy without gaps is cut into such pieces
// WHY stay awake for so long: waking a thread takes as long as copying several parts, and the next
// copy of a call often comes sooner.
constexpr auto kAwake = std::chrono::microseconds(200);

bool is_contiguous(const RowCopy& all) {
  return all.rows == 1 || (all.to_pitch == all.width && all.from_pitch == all.width);
}

void copy_part(const RowCopy& all, std::size_t part, std::size_t parts) {
  const std::size_t first = all.rows * part / parts, last = all.rows * (part + 1) / parts;
  if (is_contiguous(all)) {
    std::memcpy(all.to + first * all.width, all.from + first * all.width,
                (last - first) * all.width);
    return;
  }
  for (std::size_t row = first; row < last; ++row) {
    std::memcpy(all.to + row * all.to_pitch, all.from + row * all.from_pitch, all.width);
  }
}

// WHY once: the C library reads a file to count the cores.
std::size_t most_threads() {
  static const std::size_t cores = std::thread::hardware_concurrency();
  return std::clamp<std::size_t>(cores / kCoresPerThread, 1, kMostThreads);
}

std::size_t parts_of(const RowCopy& all) {
  const std::size_t bytes = all.width * all.rows;
  return bytes < kLeastBytes ? 1 : std::min(bytes / kPartBytes, all.rows);
}

}  // namespace

CopyThreads::~CopyThreads() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CopyThreads::start() {
  try {
    while (threads_.size() + 1 < most_threads()) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // WHY: the threads that could be started are enough.
  }
}

bool CopyThreads::wait_for_work(std::uint64_t done) {
  const auto asleep_at = std::chrono::steady_clock::now() + kAwake;
  while (copies_ == done && !is_over_) {
    if (std::chrono::steady_clock::now() < asleep_at) {
      __builtin_ia32_pause();
      continue;
    }
    std::unique_lock lock(mutex_);
    ++sleeping_;
    begin_.wait(lock, [&] { return is_over_ || copies_ != done; });
    --sleeping_;
  }
  return !is_over_;
}

void CopyThreads::work() {
  std::uint64_t done = 0;
  while (wait_for_work(done)) {
    done = copies_;
    copy_parts();
  }
}

std::optional<CopyThreads::Part> CopyThreads::next_part() {
  const std::lock_guard lock(mutex_);
  if (next_ == parts_) return {};
  return Part{all_, next_++, parts_};
}

void CopyThreads::copy_parts() {
  while (const std::optional<Part> part = next_part()) {
    copy_part(part->all, part->number, part->of);
    --unfinished_;
  }
}

void CopyThreads::copy(const RowCopy& given) {
  RowCopy all = given;
  if (all.width == 0 || all.rows == 0) return;
  if (is_contiguous(all)) {
    // WHY: one long row is cut into pieces, so that threads share them. Here the rest is copied.
    const std::size_t bytes = all.width * all.rows, rest = bytes % kPiece;
    std::memcpy(all.to + bytes - rest, all.from + bytes - rest, rest);
    all = {all.to, kPiece, all.from, kPiece, kPiece, bytes / kPiece};
    if (all.rows == 0) return;
  }
  const std::size_t parts = parts_of(all);
  if (parts > 1) start();
  if (parts == 1 || threads_.empty()) return copy_part(all, 0, 1);
  bool is_one_asleep = false;
  {
    const std::lock_guard lock(mutex_);
    all_ = all;
    parts_ = parts;
    next_ = 0;
    unfinished_ = parts;
    ++copies_;
    is_one_asleep = sleeping_ > 0;
  }
  if (is_one_asleep) begin_.notify_all();
  copy_parts();
  while (unfinished_ > 0) __builtin_ia32_pause();
}

}  // namespace tessera::gemm::host
