#include "base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

constexpr int kCells = 24;
constexpr std::size_t kMostColumns = 79;
constexpr auto kShortestPause = std::chrono::milliseconds(50);  // between two redraws of the bar

std::string time_left(std::int64_t done, std::int64_t total, double seconds_so_far) {
  if (done <= 0 || done >= total) return "";
  const auto seconds = std::llround(seconds_so_far / done * (total - done));
  return fmt::format("{}:{:02} left", seconds / 60, seconds % 60);
}

// WHY one column fewer than the terminal has: a line that fills the terminal may wrap, and wipe()
// erases one line only.
std::size_t columns_for_bar() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kMostColumns;
  return std::min<std::size_t>(kMostColumns, size.ws_col - 1);
}

}  // namespace

std::string progress_line(std::int64_t done, std::int64_t total, const std::string& words,
                          double seconds_so_far, std::size_t columns) {
  const auto filled =
      total > 0 ? static_cast<int>(std::clamp<std::int64_t>(done * kCells / total, 0, kCells)) : 0;
  const std::string bar = std::string(filled, '#') + std::string(kCells - filled, '.');
  const std::string left = time_left(done, total, seconds_so_far);
  const std::string line =
      fmt::format("[{}] {}/{}{}{}  ", bar, done, total, left.empty() ? "" : "  ", left);
  return (line + words).substr(0, columns);
}

Progress::Progress(std::int64_t total) : total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { wipe(); }

void Progress::show(std::int64_t done, const std::string& words) {
  const auto now = Clock::now();
  if (!terminal_ || (shown_ && now - last_ < kShortestPause)) return;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  fmt::print(stderr, "\r\x1b[K{}", progress_line(done, total_, words, seconds, columns_for_bar()));
  std::fflush(stderr);
  last_ = now;
  shown_ = true;
}

void Progress::wipe() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace tessera
