// Records which bytes of an allocation have been written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/memory/pages.h"

namespace tessera::vgpu {

// Between launches the host marks whole ranges, which costs almost nothing. A checked launch reads
// and marks single bytes, from several threads at once, between prepare() and the next mark().
class InitMap {
 public:
  explicit InitMap(std::uint64_t bytes) : bytes_(bytes) {}

  void mark(std::uint64_t offset, std::uint64_t bytes);
  void mark_all();

  // Makes room for marks of single bytes.
  void prepare();
  bool is_complete() const { return complete_; }
  bool is_marked(std::uint64_t offset, std::uint64_t bytes) const;
  void mark_while_running(std::uint64_t offset, std::uint64_t bytes);

 private:
  // One entry per 4-byte word of the allocation; its low 4 bits stand for the bytes of the word.
  std::atomic<std::uint8_t>* words() const {
    return static_cast<std::atomic<std::uint8_t>*>(pages_.data());
  }
  void mark_words(std::uint64_t offset, std::uint64_t bytes);

  std::uint64_t bytes_;
  bool complete_ = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      ranges_;  // begin, end; since the last prepare
  Pages pages_;
};

}  // namespace tessera::vgpu
