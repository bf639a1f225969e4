#include "catalog/pack.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace tessera {
namespace {

constexpr std::size_t kShortestCopy = 8;
constexpr int kCandidates =
    48;  // earlier places tried for each copy; more packs slower, not smaller
constexpr int kHashBits = 18;

void append_number(std::string& out, std::uint64_t number) {
  for (; number >= 128; number >>= 7) out.push_back(static_cast<char>(number | 128));
  out.push_back(static_cast<char>(number));
}

// Places of the text by a hash of the 8 bytes that stand there, latest first.
class Places {
 public:
  explicit Places(std::string_view text)
      : text_(text), latest_(std::size_t{1} << kHashBits, -1), earlier_(text.size(), -1) {}

  void add(std::size_t at) {
    if (at + kShortestCopy > text_.size()) return;
    std::int32_t& head = latest_[hash(at)];
    earlier_[at] = head;
    head = static_cast<std::int32_t>(at);
  }

  struct Copy {
    std::size_t length = 0, distance = 0;
  };
  Copy longest_copy(std::size_t at) const {
    Copy best;
    if (at + kShortestCopy > text_.size()) return best;
    std::int32_t place = latest_[hash(at)];
    for (int i = 0; i < kCandidates && place >= 0; ++i, place = earlier_[place]) {
      const std::size_t length = common_length(static_cast<std::size_t>(place), at);
      if (length > best.length) best = {length, at - static_cast<std::size_t>(place)};
    }
    return best.length >= kShortestCopy ? best : Copy{};
  }

 private:
  std::size_t hash(std::size_t at) const {
    std::uint64_t bytes;
    std::memcpy(&bytes, text_.data() + at, sizeof bytes);
    return bytes * 0x9E3779B97F4A7C15u >> (64 - kHashBits);
  }
  std::size_t common_length(std::size_t a, std::size_t b) const {
    const auto begin = text_.begin();
    const auto ends = std::mismatch(begin + b, text_.end(), begin + a);
    return static_cast<std::size_t>(ends.first - (begin + b));
  }

  std::string_view text_;
  std::vector<std::int32_t> latest_, earlier_;
};

std::string pack_text(std::string_view text) {
  std::string out;
  Places places(text);
  std::size_t literals = 0;  // first byte not yet written
  for (std::size_t at = 0; at < text.size();) {
    const Places::Copy copy = places.longest_copy(at);
    const std::size_t end = at + std::max<std::size_t>(copy.length, 1);
    if (copy.length) {
      append_number(out, at - literals);
      out.append(text.substr(literals, at - literals));
      append_number(out, copy.length);
      append_number(out, copy.distance);
      literals = end;
    }
    for (; at < end; ++at) places.add(at);
  }
  append_number(out, text.size() - literals);
  out.append(text.substr(literals));
  append_number(out, 0);
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const auto digit = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{digit & 127u} << shift;
      if (digit < 128) return value;
    }
    throw std::runtime_error("Packed data is damaged: a number is too long.");
  }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) throw std::runtime_error("Packed data is damaged: it ends early.");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

std::string unpack_text(Reader& reader, std::uint64_t size) {
  std::string text;
  text.reserve(size);
  for (;;) {
    text.append(reader.take(reader.number()));
    const std::uint64_t length = reader.number();
    if (length == 0) break;
    const std::uint64_t distance = reader.number();
    if (distance == 0 || distance > text.size() || length > size - std::min(size, text.size())) {
      throw std::runtime_error("Packed data is damaged: a copy leaves the text.");
    }
    const std::size_t from = text.size() - distance;
    for (std::uint64_t i = 0; i < length; ++i) text.push_back(text[from + i]);
  }
  if (text.size() != size || !reader.at_end()) {
    throw std::runtime_error("Packed data is damaged: its length is wrong.");
  }
  return text;
}

}  // namespace

std::string pack(const std::vector<std::string_view>& parts) {
  std::string sizes, text;
  append_number(sizes, parts.size());
  for (const std::string_view part : parts) {
    append_number(sizes, part.size());
    text += part;
  }
  return sizes + pack_text(text);
}

std::vector<std::string> unpack(std::string_view packed) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 31;
  Reader reader(packed);
  std::vector<std::uint64_t> sizes(std::min<std::uint64_t>(reader.number(), 1024));
  std::uint64_t total = 0;
  for (std::uint64_t& size : sizes) {
    size = reader.number();
    total += size;
    if (size > kLargest || total > kLargest) {
      throw std::runtime_error("Packed data is damaged: a part is too large.");
    }
  }
  const std::string text = unpack_text(reader, total);
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (const std::uint64_t size : sizes) {
    parts.push_back(text.substr(at, size));
    at += size;
  }
  return parts;
}

}  // namespace tessera
