// A progress bar with the time left, on a terminal only: logs and pipes stay clean.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tessera {

// "[#####.....] 5/10  1:07 left  02_coalesced", cut to `columns` columns; time left is unknown
// (empty) before the first step.
std::string progress_line(std::int64_t done, std::int64_t total, const std::string& words,
                          double seconds_so_far, std::size_t columns = 79);

class Progress {
 public:
  explicit Progress(std::int64_t total);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::int64_t done, const std::string& words);
  // Removes the line, so that something else can be printed.
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;
  std::int64_t total_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace tessera
