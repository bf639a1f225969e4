// An initialiser list must be nested like the array, and a row may not be longer than a row of the
// array. But the numbers are stored without gaps, whatever the braces: a short row is not padded,
// and the next row follows it directly. Elements at the end without a value stay zero.
// HW: measured on an H200: .s16 x[2][3] = {{-1, -2}, {7, 8, 9}} holds -1 -2 7 8 9 0. ptxas 13.0
// writes the same bytes, and refuses lists that are flat, nested otherwise or too long.
#include "vgpu/ptx/initial_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera::vgpu::ptx {
namespace {

// Reads a number and returns its bits in this type.
std::uint64_t number_bits(Cursor& cursor, Type type) {
  const bool negative = cursor.accept('-');
  const Token& token = cursor.next();
  const bool is_float = type.kind == TypeKind::kFloat;
  if (token.kind == TokenKind::kInteger && !is_float)
    return negative ? 0 - token.value : token.value;
  double value = 0;
  switch (token.kind) {
    case TokenKind::kInteger:
      value = static_cast<double>(token.value);
      break;
    case TokenKind::kFloat64:
      value = std::bit_cast<double>(token.value);
      break;
    case TokenKind::kFloat32:
      // WHY no conversion: a 32-bit hexadecimal float keeps its bits, even if it is a NaN.
      if (type.bits == 32) return token.value ^ (negative ? 1u << 31 : 0);
      value = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(token.value)));
      break;
    default:
      cursor.fail_at(token, "an initial value was expected");
  }
  if (!is_float) cursor.fail_at(token, "an integer was expected");
  if (negative) value = -value;
  return type.bits == 32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                         : std::bit_cast<std::uint64_t>(value);
}

class InitialValues {
 public:
  InitialValues(Cursor& cursor, Type type, std::span<std::byte> bytes,
                std::vector<InitialAddress>& addresses)
      : cursor_(cursor), type_(type), bytes_(bytes), addresses_(addresses) {}

  // Reads one element or, if there are extents, a list of at most extents[0] rows.
  void fill(std::span<const std::uint64_t> extents) {
    if (extents.empty()) return element();
    cursor_.expect('{');
    for (std::uint64_t rows = 0; !cursor_.is_punct('}'); ++rows) {
      if (rows == extents[0]) cursor_.fail("more initial values than elements");
      fill(extents.subspan(1));
      if (!cursor_.accept(',')) break;
    }
    cursor_.expect('}');
  }

 private:
  void element() {
    const std::size_t at = next_;
    next_ += type_.bits / 8;
    if (cursor_.is(TokenKind::kWord)) return address(at);
    const std::uint64_t bits = number_bits(cursor_, type_);
    std::memcpy(bytes_.data() + at, &bits, std::min<std::size_t>(type_.bits / 8, sizeof bits));
  }

  // Reads an address: "buffer+16" or "generic(buffer)+16".
  void address(std::size_t offset) {
    const Token& word = cursor_.next();
    if (type_.bits != 64) cursor_.fail_at(word, "an address needs 64 bits");
    InitialAddress& address = addresses_.emplace_back();
    address.offset = offset;
    if (word.text == "generic" && cursor_.accept('(')) {
      address.symbol = cursor_.expect(TokenKind::kWord, "a variable").text;
      cursor_.expect(')');
    } else {
      address.symbol = word.text;
    }
    if (cursor_.accept('+')) address.addend = cursor_.expect_integer("an offset");
  }

  Cursor& cursor_;
  Type type_;
  std::span<std::byte> bytes_;
  std::vector<InitialAddress>& addresses_;
  std::size_t next_ = 0;  // byte of the next element
};

}  // namespace

void parse_initial_values(Cursor& cursor, Type type, std::span<const std::uint64_t> extents,
                          std::span<std::byte> bytes, std::vector<InitialAddress>& addresses) {
  InitialValues(cursor, type, bytes, addresses).fill(extents);
}

}  // namespace tessera::vgpu::ptx
