#include "gemm/host/copy_threads.h"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace tessera::gemm::host {
namespace {

// HW: PCIe 5 x16 takes what several cores copy (H200 host).
constexpr std::size_t kMostThreads = 8;
// Waking a thread takes as long as copying a part of this.
constexpr std::size_t kBytesPerThread = std::size_t{256} << 10;
constexpr std::size_t kPiece = 4096;  // of rows without gaps

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

// WHY once: the C library reads a file for it.
std::size_t most_threads() {
  static const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::min(kMostThreads, cores);
}

std::size_t parts_of(const RowCopy& all) {
  const std::size_t parts = all.width * all.rows / kBytesPerThread;
  return parts < 2 ? 1 : std::min({parts, all.rows, most_threads()});
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
    while (threads_.size() + 1 < most_threads()) {
      threads_.emplace_back(
          [this, number = threads_.size() + 1, done = copies_] { work(number, done); });
    }
  } catch (const std::system_error&) {
    // WHY: those that could be started are enough.
  }
}

// Part `number` of each copy after the first `done` ones.
void CopyThreads::work(std::size_t number, std::size_t done) {
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return is_over_ || copies_ > done; });
    if (is_over_) return;
    done = copies_;
    if (number < parts_) {
      const RowCopy all = all_;
      const std::size_t parts = parts_;
      lock.unlock();
      copy_part(all, number, parts);
      lock.lock();
    }
    if (--running_ == 0) end_.notify_one();
  }
}

void CopyThreads::copy(const RowCopy& given) {
  RowCopy all = given;
  if (all.width == 0 || all.rows == 0) return;
  if (is_contiguous(all)) {
    // WHY: one long row is cut like many; the last piece may be a short one.
    const std::size_t bytes = all.width * all.rows, rest = bytes % kPiece;
    std::memcpy(all.to + bytes - rest, all.from + bytes - rest, rest);
    all = {all.to, kPiece, all.from, kPiece, kPiece, bytes / kPiece};
    if (all.rows == 0) return;
  }
  std::size_t parts = parts_of(all);
  if (parts > 1) start();
  parts = std::min(parts, threads_.size() + 1);
  if (parts == 1) return copy_part(all, 0, 1);
  {
    const std::lock_guard lock(mutex_);
    all_ = all;
    parts_ = parts;
    running_ = threads_.size();
    ++copies_;
  }
  begin_.notify_all();
  copy_part(all, 0, parts);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return running_ == 0; });
}

}  // namespace tessera::gemm::host
