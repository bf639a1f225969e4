#include "vgpu/observe/written_lines.h"

#include <algorithm>

namespace tessera::vgpu {
namespace {

constexpr std::uint64_t kWord = 64;

}  // namespace

WrittenLinesOfBlock::WrittenLinesOfBlock(const MemoryBlock& block)
    : base_(block.base),
      bytes_(block.bytes),
      lines_((block.bytes >> kShift) + 1),
      words_(std::make_unique<std::atomic<std::uint64_t>[]>((lines_ + kWord - 1) / kWord)) {}

void WrittenLinesOfBlock::mark(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0 || !holds(address)) return;
  const std::uint64_t last = std::min((address + bytes - 1 - base_) >> kShift, lines_ - 1);
  for (std::uint64_t line = (address - base_) >> kShift; line <= last; ++line) {
    std::atomic<std::uint64_t>& word = words_[line / kWord];
    const std::uint64_t bit = std::uint64_t{1} << line % kWord;
    if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit);
  }
}

bool WrittenLinesOfBlock::any(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t begin = std::max(address, base_) - base_;
  if (address + bytes <= base_ || begin >= bytes_) return false;
  const std::uint64_t first = begin >> kShift;
  const std::uint64_t last = std::min((address + bytes - 1 - base_) >> kShift, lines_ - 1);
  for (std::uint64_t word = first / kWord; word <= last / kWord; ++word) {
    std::uint64_t bits = words_[word].load(std::memory_order_relaxed);
    if (word == first / kWord) bits &= ~std::uint64_t{0} << first % kWord;
    if (word == last / kWord) bits &= ~std::uint64_t{0} >> (kWord - 1 - last % kWord);
    if (bits != 0) return true;
  }
  return false;
}

void WrittenLines::begin(const GlobalMemory& memory) {
  blocks_.clear();
  for (const MemoryBlock& block : memory.blocks()) {
    blocks_.push_back(std::make_unique<WrittenLinesOfBlock>(block));
  }
}

WrittenLinesOfBlock* WrittenLines::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), address,
                       [](std::uint64_t a, const auto& block) { return a < block->base(); });
  if (after == blocks_.begin() || !(*(after - 1))->holds(address)) return nullptr;
  return (after - 1)->get();
}

void WrittenLines::mark(std::uint64_t address, std::uint64_t bytes) {
  if (WrittenLinesOfBlock* block = find(address)) block->mark(address, bytes);
}

}  // namespace tessera::vgpu
