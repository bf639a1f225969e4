// A progress bar with the time left. It is shown on terminals only, so that logs and pipes stay
// clean.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tessera {

// The text of the bar: "[#####.....] 5/10  1:07 left  02_coalesced", cut to `columns` columns.
// Before the first step the time left is unknown and not shown.
std::string progress_line(std::int64_t done, std::int64_t total, const std::string& words,
                          double seconds_so_far, std::size_t columns = 79);

class Progress {
 public:
  explicit Progress(std::int64_t total);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::int64_t done, const std::string& words);
  // Erases the bar, so that something else can be printed.
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
