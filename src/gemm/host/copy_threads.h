// Threads that copy rows of host memory together. They are started by the first large copy and wait
// for the next one, because starting them takes longer than many copies.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::gemm::host {

// Rows of `width` bytes; where one begins, each next one begins a pitch further.
struct RowCopy {
  std::byte* to;
  std::size_t to_pitch;
  const std::byte* from;
  std::size_t from_pitch;
  std::size_t width, rows;
};

// For one caller at a time.
class CopyThreads {
 public:
  CopyThreads() = default;
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  // Returns when all is copied. Where no threads can be started, the caller copies alone.
  void copy(const RowCopy& all);

 private:
  void start();
  void work(std::size_t number, std::size_t done);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  RowCopy all_ = {};
  std::size_t parts_ = 0;
  std::size_t copies_ = 0;   // begun so far
  std::size_t running_ = 0;  // threads that have not finished the last one
  bool is_over_ = false;
};

}  // namespace tessera::gemm::host
