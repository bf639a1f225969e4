#include "check/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/numbers.h"
#include "base/status.h"

namespace tessera::checking {
namespace {

constexpr std::size_t kMostDimensions = 16;

struct Text {
  const std::string& option;  // "--arg"
  const std::string& whole;   // "a=f32[4096]:uniform"

  [[noreturn]] void refuse(const std::string& rule) const {
    throw StatusError(Status::bad_argument(fmt::format("{} is '{}', but {}", option, whole, rule)));
  }
  std::string name() const { return fmt::format("{} '{}'", option, whole); }
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_name(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

ElementType element_type(const Text& text, const std::string& word) {
  if (const auto type = lab::type_of_word(word)) return *type;
  text.refuse(fmt::format("'{}' is not a type; the types are {}", word, lab::words_of_types()));
}

ScalarArgument scalar(const Text& text, const std::string& type, const std::string& value) {
  ScalarArgument scalar;
  scalar.type = element_type(text, type);
  lab::store_text(scalar.type, text.name(), value, scalar.value.data());
  return scalar;
}

std::vector<std::int64_t> extents(const Text& text, const std::string& list, char separator) {
  std::vector<std::int64_t> extents;
  for (const std::string& extent : split(list, separator)) {
    extents.push_back(
        parse_integer(fmt::format("an extent of {}", text.name()), trimmed(extent), 1));
  }
  if (extents.size() > kMostDimensions) {
    text.refuse(fmt::format("an array has at most {} dimensions", kMostDimensions));
  }
  return extents;
}

// The text after the ':' of an array.
void set_fill(const Text& text, const std::string& word, ArrayArgument& array) {
  static const std::map<std::string, ArrayFill> kFills = {
      {"uniform", ArrayFill::kUniform},
      {"integers", ArrayFill::kIntegers},
      {"zeros", ArrayFill::kZeros},
      {"ones", ArrayFill::kOnes},
      {"iota", ArrayFill::kIota},
      {"uninitialised", ArrayFill::kUninitialised},
      {"uninitialized", ArrayFill::kUninitialised}};
  if (word.starts_with("constant=")) {
    array.fill = ArrayFill::kConstant;
    array.constant = word.substr(word.find('=') + 1);
    std::array<std::byte, 8> probe;
    lab::store_text(array.type, text.name(), array.constant, probe.data());
    return;
  }
  const auto found = kFills.find(word);
  if (found == kFills.end()) {
    text.refuse(
        fmt::format("'{}' is not a fill; the fills are uniform, integers, zeros, ones, iota, "
                    "constant=X and uninitialised",
                    word));
  }
  array.fill = found->second;
  if (array.fill == ArrayFill::kUniform && !is_float(array.type)) {
    text.refuse("uniform fills floats with -1 to 1; use integers, iota, zeros, ones or constant=X");
  }
}

// "f32[64,128]:uniform"
ArrayArgument array(const Text& text, const std::string& value) {
  ArrayArgument array;
  const std::size_t open = value.find('['), close = value.find(']');
  if (close == std::string::npos || close < open) text.refuse("a '[' lacks its ']'");
  array.type = element_type(text, value.substr(0, open));
  array.shape = extents(text, value.substr(open + 1, close - open - 1), ',');
  const std::string rest = value.substr(close + 1);
  if (rest.empty()) return array;
  if (rest[0] != ':') text.refuse("only ':' and a fill may follow the ']'");
  set_fill(text, rest.substr(1), array);
  return array;
}

BytesArgument bytes(const Text& text, const std::string& digits) {
  const auto nibble = [&](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    text.refuse("bytes are written with the digits 0-9 and a-f, the lowest address first");
  };
  if (digits.size() % 2 != 0 || digits.empty()) text.refuse("a byte is written with two digits");
  BytesArgument argument;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    argument.bytes.push_back(
        static_cast<std::byte>(nibble(digits[i]) << 4 | nibble(digits[i + 1])));
  }
  return argument;
}

// The text between "word(" and ")", piece by piece; empty when the value starts otherwise.
std::vector<std::string> pieces_of_call(const Text& text, const std::string& value,
                                        const std::string& word) {
  if (!value.starts_with(word + "(")) return {};
  if (!value.ends_with(')')) text.refuse(fmt::format("'{}(' lacks its ')'", word));
  const std::size_t begin = word.size() + 1;
  std::vector<std::string> pieces = split(value.substr(begin, value.size() - begin - 1), ',');
  std::transform(pieces.begin(), pieces.end(), pieces.begin(), trimmed);
  return pieces;
}

PointersArgument pointers(const Text& text, const std::vector<std::string>& pieces) {
  PointersArgument argument;
  for (const std::string& piece : pieces) {
    if (!is_name(piece)) text.refuse("pointers(...) lists names of arrays, and null");
    argument.arrays.push_back(piece == "null" ? "" : piece);
  }
  return argument;
}

// "a" or "a+256"
AliasArgument alias(const Text& text, const std::string& value) {
  const std::size_t plus = value.find('+');
  AliasArgument argument{value.substr(0, plus), 0};
  if (plus != std::string::npos) {
    argument.offset = static_cast<std::uint64_t>(parse_integer(
        fmt::format("the bytes after the '+' of {}", text.name()), value.substr(plus + 1), 0));
  }
  return argument;
}

bool is_alias(const std::string& value) {
  const std::string name = value.substr(0, value.find('+'));
  return is_name(name) && (name[0] < '0' || name[0] > '9');
}

StructArgument structure(const Text& text, const std::vector<std::string>& pieces) {
  StructArgument argument;
  for (const std::string& piece : pieces) {
    const std::size_t colon = piece.find(':');
    if (piece == "null") {
      argument.fields.emplace_back(ScalarArgument{ElementType::kU64, {}});
    } else if (colon != std::string::npos) {
      argument.fields.emplace_back(scalar(text, piece.substr(0, colon), piece.substr(colon + 1)));
    } else if (is_name(piece)) {
      argument.fields.emplace_back(piece);
    } else {
      text.refuse("a field is TYPE:VALUE or the name of an array");
    }
  }
  return argument;
}

TensorMapArgument tensor_map(const Text& text, const std::vector<std::string>& pieces) {
  const std::string rule =
      "a tensor map is tensormap(ARRAY, BOX, SWIZZLE) with a box such as 64x32, innermost extent "
      "first, and a swizzle of none, 32, 64 or 128 bytes";
  if (pieces.size() < 2 || pieces.size() > 3) text.refuse(rule);
  TensorMapArgument map;
  map.array = pieces[0];
  if (!is_name(map.array)) text.refuse(rule);
  map.box = extents(text, pieces[1], 'x');
  const std::string swizzle = pieces.size() == 3 ? pieces[2] : "none";
  if (swizzle == "none") return map;
  if (swizzle != "32" && swizzle != "64" && swizzle != "128") text.refuse(rule);
  map.swizzle = static_cast<int>(parse_integer("the swizzle", swizzle));
  return map;
}

NamedFile name_and_value(const Text& text) {
  const std::size_t equals = text.whole.find('=');
  if (equals == std::string::npos) text.refuse("it must be NAME=VALUE");
  NamedFile pair{text.whole.substr(0, equals), text.whole.substr(equals + 1)};
  if (!is_name(pair.name)) text.refuse("a name is made of letters, digits and '_'");
  if (pair.path.empty()) text.refuse("there is no value after the '='");
  return pair;
}

}  // namespace

Argument parse_argument(const std::string& option, const std::string& whole) {
  const Text text{option, whole};
  const auto [name, value] = name_and_value(text);
  const auto made = [&, &name = name, &value = value](auto argument) {
    return Argument{name, value, std::move(argument)};
  };
  if (const auto pieces = pieces_of_call(text, value, "tensormap"); !pieces.empty()) {
    return made(tensor_map(text, pieces));
  }
  if (const auto pieces = pieces_of_call(text, value, "struct"); !pieces.empty()) {
    return made(structure(text, pieces));
  }
  if (const auto pieces = pieces_of_call(text, value, "pointers"); !pieces.empty()) {
    return made(pointers(text, pieces));
  }
  if (value == "null" || value == "nullptr") return made(NullArgument{});
  for (const std::string word : {"bytes:", "bytes=", "hex:"}) {
    if (value.starts_with(word)) return made(bytes(text, value.substr(word.size())));
  }
  if (value.ends_with(".npy")) {
    ArrayArgument file;
    file.file = value;
    return made(std::move(file));
  }
  if (value.find('[') != std::string::npos) return made(array(text, value));
  const std::size_t colon = value.find(':');
  if (colon != std::string::npos) {
    return made(scalar(text, value.substr(0, colon), value.substr(colon + 1)));
  }
  if (is_alias(value)) return made(alias(text, value));
  text.refuse(
      "a value is TYPE:NUMBER, TYPE[EXTENT,...]:FILL, FILE.npy, bytes:HEX, struct(FIELD, ...), "
      "tensormap(ARRAY, BOX, SWIZZLE), null, the name of another array, or pointers(ARRAY, ...)");
}

NamedFile parse_named_file(const std::string& option, const std::string& whole) {
  return name_and_value({option, whole});
}

}  // namespace tessera::checking
