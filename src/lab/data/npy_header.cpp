#include "lab/data/npy_header.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "base/status.h"
#include "lab/data/host_memory.h"

namespace tessera::lab {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kHeaderAlignment =
    64;  // NumPy pads its header so that data starts at a multiple

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw StatusError(Status::bad_argument(fmt::format("{} {}", what, why)));
}

// Reads the header's text: a Python dictionary of strings, booleans and tuples of integers.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  struct Fields {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
  };

  Fields read() {
    Fields fields;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        set(fields.descr, key, descr());
      } else if (key == "fortran_order") {
        set(fields.fortran_order, key, boolean());
      } else if (key == "shape") {
        set(fields.shape, key, tuple());
      } else {
        malformed(fmt::format("has an unknown key '{}'", printable(key)));
      }
      if (!accept(',') && peek() != '}') malformed("lacks a comma");
    }
    if (peek() != '\0') malformed("goes on after the closing brace");
    return fields;
  }

 private:
  [[noreturn]] void malformed(const std::string& how) const {
    refuse(what_, fmt::format("is not a .npy file: its header {} (at byte {} of the header)", how,
                              position_));
  }

  template <class T>
  void set(std::optional<T>& field, const std::string& key, T value) {
    if (field) malformed(fmt::format("gives '{}' twice", key));
    field = std::move(value);
  }

  char peek() {
    while (position_ < text_.size() && std::strchr(" \t\r\n", text_[position_])) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) malformed(fmt::format("lacks '{}'", c));
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed("lacks a quoted word");
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) malformed("has a word without closing quote");
    std::string word(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return word;
  }

  // Reads the type: a word. A list, which describes records of several fields, is refused.
  std::string descr() {
    if (peek() != '[' && peek() != '(') return string();
    refuse(what_, "holds records of several fields; it must hold numbers of one type");
  }

  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(position_).substr(0, std::strlen(word)) != word) continue;
      position_ += std::strlen(word);
      return value;
    }
    malformed("has neither True nor False for 'fortran_order'");
  }

  std::int64_t integer() {
    if (accept('-')) malformed("has a negative size");
    if (peek() < '0' || peek() > '9') malformed("lacks a number in 'shape'");
    std::int64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
         ++position_) {
      const int digit = text_[position_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
        malformed("has a size beyond 64 bits");
      }
      value = 10 * value + digit;
    }
    accept('L');  // WHY: Python 2 wrote long integers like this
    return value;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(integer());
      if (!accept(',') && peek() != ')') malformed("lacks a comma in 'shape'");
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t position_ = 0;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// Returns the header's text. Its length has 2 bytes in version 1 and 4 bytes in later ones.
std::string_view header_text(std::string_view file, const std::string& what) {
  if (file.substr(0, kMagic.size()) != kMagic.substr(0, file.size())) {
    refuse(what, "is not a .npy file: it does not start with NumPy's magic word");
  }
  if (file.size() < kMagic.size() + 4) refuse(what, "is truncated within its first 10 bytes");
  const int version = static_cast<unsigned char>(file[kMagic.size()]);
  if (version < 1 || version > 3) {
    refuse(what, fmt::format("has .npy format version {}; versions 1, 2 and 3 are known", version));
  }
  const std::size_t length_at = kMagic.size() + 2;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (file.size() < length_at + length_bytes) refuse(what, "is truncated before its header");
  const std::uint64_t length = little_endian(file.substr(length_at, length_bytes));
  const std::size_t text_at = length_at + length_bytes;
  if (length > file.size() - text_at) {
    refuse(what, fmt::format("is truncated: its header has {} bytes and the file ends after {}",
                             length, file.size() - text_at));
  }
  return file.substr(text_at, length);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, 40));
  for (char& c : shown) {
    if (c < 32 || c > 126) c = '?';
  }
  return shown;
}

NpyFields parse_npy_fields(std::string_view file, const std::string& what) {
  const std::string_view text = header_text(file, what);
  auto fields = DictionaryReader(text, what).read();
  if (!fields.descr || !fields.fortran_order || !fields.shape) {
    refuse(what, "is not a .npy file: its header lacks 'descr', 'fortran_order' or 'shape'");
  }
  const auto data_offset = static_cast<std::size_t>(text.data() + text.size() - file.data());
  return {std::move(*fields.descr), *fields.fortran_order, std::move(*fields.shape), data_offset};
}

std::string npy_header(const std::string& descr, bool fortran_order,
                       const std::vector<std::int64_t>& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += fmt::format("{}, ", size);
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", descr,
                                 fortran_order ? "True" : "False", sizes);
  const std::size_t fixed = kMagic.size() + 4 + 1;  // magic, version, length, line break
  text.append((kHeaderAlignment - (fixed + text.size()) % kHeaderAlignment) % kHeaderAlignment,
              ' ');
  text += '\n';
  std::string bytes(kMagic);
  bytes +=
      {'\x01', '\x00', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return bytes + text;
}

std::string read_whole_file(const std::string& path, const std::string& what) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(what, "cannot be read: there is no such file");
  if (!std::filesystem::is_regular_file(status)) refuse(what, "is not a regular file");
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) refuse(what, fmt::format("cannot be read: {}", std::strerror(errno)));
  lab::require_host_memory(bytes, what);
  std::string text(bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  if (static_cast<std::uintmax_t>(stream.gcount()) != bytes)
    refuse(what, "could not be read whole");
  return text;
}

}  // namespace tessera::lab
