#include <zstd.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "sass/container/fatbin.h"

namespace tessera::sass {
namespace {

[[noreturn]] void fail() {
  throw std::runtime_error("Damaged fatbin: a packed entry does not unpack to its size.");
}

// A limit above the size of any file of machine code: only damaged headers have larger sizes.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;

// Unpacks the LZ4 block format: literal bytes, each group followed by a copy of earlier output.
class Lz4 {
 public:
  Lz4(std::span<const std::byte> packed, std::uint64_t size) : packed_(packed), size_(size) {}

  Bytes unpack() {
    while (at_ < packed_.size()) {
      const unsigned token = next();
      copy_literals(length(token >> 4));
      if (at_ == packed_.size()) break;  // the last run has no copy
      const unsigned distance = next() | next() << 8;
      copy_match(distance, length(token & 15) + 4);
    }
    if (out_.size() != size_) fail();
    return std::move(out_);
  }

 private:
  unsigned next() {
    if (at_ == packed_.size()) fail();
    return std::to_integer<unsigned>(packed_[at_++]);
  }

  // Reads a length. A length of 15 continues in further bytes as long as these are 255.
  std::uint64_t length(unsigned start) {
    std::uint64_t total = start;
    if (start == 15) {
      unsigned more;
      do {
        more = next();
        total += more;
      } while (more == 255);
    }
    return total;
  }

  void copy_literals(std::uint64_t count) {
    if (count > packed_.size() - at_ || count > size_ - out_.size()) fail();
    out_.insert(out_.end(), packed_.begin() + at_, packed_.begin() + at_ + count);
    at_ += count;
  }

  void copy_match(std::uint64_t distance, std::uint64_t count) {
    if (distance == 0 || distance > out_.size() || count > size_ - out_.size()) fail();
    for (std::uint64_t i = 0; i < count; ++i) out_.push_back(out_[out_.size() - distance]);
  }

  std::span<const std::byte> packed_;
  std::uint64_t size_;
  std::size_t at_ = 0;
  Bytes out_;
};

}  // namespace

Bytes unpack_zstd(std::span<const std::byte> packed, std::uint64_t size) {
  if (size > kLargest) fail();
  Bytes out(size);
  if (ZSTD_decompress(out.data(), size, packed.data(), packed.size()) != size) fail();
  return out;
}

Bytes unpack_lz4(std::span<const std::byte> packed, std::uint64_t size) {
  if (size > kLargest) fail();
  return Lz4(packed, size).unpack();
}

}  // namespace tessera::sass
