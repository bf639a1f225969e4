#include "vgpu/memory/init_map.h"

#include <algorithm>

namespace tessera::vgpu {
namespace {

constexpr std::uint8_t kWholeWord = 0xf;

// Returns one bit for each byte of [begin, end) that lies in the 4-byte word of this index.
std::uint8_t bits_in(std::uint64_t word, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t first = std::max(begin, word * 4) - word * 4;
  const std::uint64_t last = std::min(end, word * 4 + 4) - word * 4;
  return static_cast<std::uint8_t>((1u << last) - (1u << first));
}

}  // namespace

void InitMap::mark(std::uint64_t offset, std::uint64_t bytes) {
  if (complete_ || bytes == 0) return;
  if (!ranges_.empty() && ranges_.back().second == offset) {
    ranges_.back().second += bytes;
  } else {
    ranges_.push_back({offset, offset + bytes});
  }
  if (ranges_.back() == std::pair<std::uint64_t, std::uint64_t>{0, bytes_}) mark_all();
}

void InitMap::mark_all() {
  complete_ = true;
  ranges_ = {};
  pages_ = {};
}

void InitMap::prepare() {
  if (complete_) return;
  if (!pages_.data()) pages_ = Pages((bytes_ + 3) / 4);
  for (const auto& [begin, end] : ranges_) mark_words(begin, end - begin);
  ranges_.clear();
}

bool InitMap::is_marked(std::uint64_t offset, std::uint64_t bytes) const {
  if (complete_) return true;
  for (std::uint64_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    const std::uint8_t wanted = bits_in(word, offset, offset + bytes);
    if ((words()[word].load(std::memory_order_relaxed) & wanted) != wanted) return false;
  }
  return true;
}

void InitMap::mark_while_running(std::uint64_t offset, std::uint64_t bytes) {
  if (!complete_) mark_words(offset, bytes);
}

void InitMap::mark_words(std::uint64_t offset, std::uint64_t bytes) {
  for (std::uint64_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    const std::uint8_t bits = bits_in(word, offset, offset + bytes);
    if (bits == kWholeWord) {
      words()[word].store(bits, std::memory_order_relaxed);
    } else {
      words()[word].fetch_or(bits, std::memory_order_relaxed);
    }
  }
}

}  // namespace tessera::vgpu
