#include "vgpu/exec/print_format.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace tessera::vgpu {
namespace {

constexpr std::size_t kLongestString = 1 << 16;
// The maximum width of a field in characters. Wider fields are cut.
constexpr int kWidest = 4096;

class Arguments {
 public:
  Arguments(std::uint64_t at, const ReadByte& read) : at_(at), read_(read) {}

  std::uint64_t next(std::uint64_t bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) value |= std::uint64_t{read_(at_ + i)} << 8 * i;
    at_ += bytes;
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  std::uint64_t at_;
  const ReadByte& read_;
  int count_ = 0;
};

// One conversion specification of a format ("%..."), without its length modifier.
struct Conversion {
  std::string spec = "%";
  char type = 0;
  bool is_long = false;
};

bool is_in(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

void add_number(const std::string& format, std::size_t& at, Arguments& arguments,
                std::string& spec) {
  if (at < format.size() && format[at] == '*') {
    ++at;
    spec += std::to_string(std::min(static_cast<int>(arguments.next(4)), kWidest));
    return;
  }
  int number = 0;
  bool any = false;
  for (; at < format.size() && is_in(format[at], "0123456789"); ++at, any = true) {
    number = std::min(kWidest, 10 * number + (format[at] - '0'));
  }
  if (any) spec += std::to_string(number);
}

// Parses one conversion. `at` is the position after the '%', and then after the conversion.
Conversion parse(const std::string& format, std::size_t& at, Arguments& arguments) {
  Conversion conversion;
  for (; at < format.size() && is_in(format[at], "-+ #0"); ++at) conversion.spec += format[at];
  add_number(format, at, arguments, conversion.spec);
  if (at < format.size() && format[at] == '.') {
    conversion.spec += '.';
    add_number(format, ++at, arguments, conversion.spec);
  }
  for (; at < format.size() && is_in(format[at], "hlLqjzt"); ++at) {
    conversion.is_long |= format[at] != 'h';
  }
  if (at < format.size()) conversion.type = format[at++];
  return conversion;
}

template <class T>
std::string formatted(const std::string& spec, T value) {
  std::array<char, 512> buffer{};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(buffer.data(), buffer.size(), spec.c_str(), value);
  if (length < 0) return "";
  if (static_cast<std::size_t>(length) < buffer.size()) return buffer.data();
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), spec.c_str(), value);
#pragma GCC diagnostic pop
  text.pop_back();
  return text;
}

std::string convert(Conversion conversion, Arguments& arguments, const ReadByte& read) {
  std::string& spec = conversion.spec;
  const char type = conversion.type;
  if (is_in(type, "di")) {
    const std::uint64_t bits = arguments.next(conversion.is_long ? 8 : 4);
    const long long value = conversion.is_long ? static_cast<long long>(bits)
                                               : static_cast<int>(static_cast<std::uint32_t>(bits));
    return formatted(spec + "ll" + type, value);
  }
  if (is_in(type, "ouxX")) {
    const unsigned long long value = arguments.next(conversion.is_long ? 8 : 4);
    return formatted(spec + "ll" + type, value);
  }
  if (is_in(type, "fFeEgGaA")) {
    const std::uint64_t bits = arguments.next(8);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return formatted(spec + type, value);
  }
  if (type == 'c') return formatted(spec + type, static_cast<int>(arguments.next(4)));
  if (type == 's') {
    const std::uint64_t address = arguments.next(8);
    const std::string text = address == 0 ? "(null)" : read_string(address, read);
    return formatted(spec + type, text.c_str());
  }
  if (type == 'p') return formatted(spec + type, reinterpret_cast<void*>(arguments.next(8)));
  return type == '%' ? "%" : spec + std::string(type != 0, type);
}

}  // namespace

std::string read_string(std::uint64_t address, const ReadByte& read) {
  std::string text;
  while (text.size() < kLongestString) {
    const unsigned char c = read(address++);
    if (c == 0) break;
    text += static_cast<char>(c);
  }
  return text;
}

Printed print_format(std::uint64_t format, std::uint64_t arguments, const ReadByte& read) {
  const std::string pattern = read_string(format, read);
  Arguments values(arguments, read);
  Printed printed;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '%') {
      printed.text += pattern[at++];
      continue;
    }
    printed.text += convert(parse(pattern, ++at, values), values, read);
  }
  printed.arguments = values.count();
  return printed;
}

}  // namespace tessera::vgpu
