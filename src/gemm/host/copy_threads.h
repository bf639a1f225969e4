// Threads that copy rows of host memory together; the first large copy starts them. A copy is cut
// into parts, and each thread takes one part after the other: the caller begins at once, and
// sleeping threads join when they are awake.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tessera::gemm::host {

// `rows` rows of `width` bytes each. A pitch is the number of bytes from one row to the next.
struct RowCopy {
  std::byte* to;
  std::size_t to_pitch;
  const std::byte* from;
  std::size_t from_pitch;
  std::size_t width, rows;
};

// A set of threads for one caller at a time.
class CopyThreads {
 public:
  CopyThreads() = default;
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  // Returns when all rows are copied. If no threads can be started, the caller copies alone.
  void copy(const RowCopy& all);

 private:
  struct Part {
    RowCopy all;
    std::size_t number, of;
  };
  void start();
  void work();
  bool wait_for_work(std::uint64_t done);  // false: no work will come
  std::optional<Part> next_part();
  void copy_parts();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begin_;
  RowCopy all_ = {};
  std::size_t parts_ = 0, next_ = 0;  // parts of the present copy; number of the next part
  int sleeping_ = 0;
  std::atomic<std::uint64_t> copies_ = 0;    // copies begun so far
  std::atomic<std::size_t> unfinished_ = 0;  // parts
  std::atomic<bool> is_over_ = false;
};

}  // namespace tessera::gemm::host
