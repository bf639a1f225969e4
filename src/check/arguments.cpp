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

// Reads the text after the ':' of an array, which says how the array is filled.
void set_fill(const Text& text, const std::string& word, ArrayArgument& array) {
  static const std::map<std::string, ArrayFill> kFills = {
      {"uniform", ArrayFill::kUniform},
      {"integers", ArrayFill::kIntegers},
      {"zeros", ArrayFill::kZeros},
      {"ones", ArrayFill::kOnes},
      {"iota", ArrayFill::kIota},
      {"shuffled", ArrayFill::kShuffled},
      {"repeated", ArrayFill::kRepeated},
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
                    "shuffled, repeated, constant=X and uninitialised",
                    word));
  }
  array.fill = found->second;
  if (array.fill == ArrayFill::kUniform && !is_float(array.type)) {
    text.refuse(
        "uniform fills floats with -1 to 1; use integers, iota, shuffled, repeated, zeros, ones "
        "or constant=X");
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

// Splits the text at the commas that are outside of parentheses and brackets.
std::vector<std::string> split_outside(const std::string& text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  std::transform(pieces.begin(), pieces.end(), pieces.begin(), trimmed);
  return pieces;
}

// Returns the parts between "word(" and ")"; nothing if the value does not start with "word(".
std::vector<std::string> pieces_of_call(const Text& text, const std::string& value,
                                        const std::string& word) {
  if (!value.starts_with(word + "(")) return {};
  if (!value.ends_with(')')) text.refuse(fmt::format("'{}(' lacks its ')'", word));
  const std::size_t begin = word.size() + 1;
  return split_outside(value.substr(begin, value.size() - begin - 1));
}

// Reads the address of an array or of a byte in it: "a" or "a+256".
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

// Reads an option of a tensor map, which follows the box: "size=300x200", for example.
void set_option(const Text& text, const std::string& piece, TensorMapArgument& map) {
  const std::size_t equals = piece.find('=');
  const std::string name = trimmed(piece.substr(0, equals));
  const std::string value = trimmed(piece.substr(std::min(equals, piece.size() - 1) + 1));
  if (name == "box") {
    map.box = extents(text, value, 'x');
  } else if (name == "size") {
    map.sizes = extents(text, value, 'x');
  } else if (name == "stride") {
    map.strides = extents(text, value, 'x');
  } else if (name == "step") {
    map.steps = extents(text, value, 'x');
  } else if (name == "offset") {
    map.offset = static_cast<std::uint64_t>(
        parse_integer(fmt::format("the offset of {}", text.name()), value, 0));
  } else if (name == "swizzle") {
    if (value != "none" && value != "32" && value != "64" && value != "128") {
      text.refuse("a tensor map has a swizzle of none, 32, 64 or 128 bytes");
    }
    map.swizzle = value == "none" ? 0 : static_cast<int>(parse_integer("the swizzle", value));
  } else if (name == "fill" && (value == "zeros" || value == "nan")) {
    map.fills_nan = value == "nan";
  } else {
    text.refuse(
        fmt::format("a tensor map has no '{}': it has box=, swizzle=, size=, step= (elements, "
                    "innermost first), stride=, offset= (bytes), fill=zeros or nan",
                    piece));
  }
}

TensorMapArgument tensor_map(const Text& text, const std::vector<std::string>& pieces) {
  TensorMapArgument map;
  map.array = pieces[0];
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const bool is_named = pieces[i].find('=') != std::string::npos;
    const std::string place = i == 1 ? "box=" : i == 2 ? "swizzle=" : "";
    set_option(text, is_named ? pieces[i] : place + pieces[i], map);
  }
  if (!is_name(map.array) || map.box.empty()) {
    text.refuse(
        "a tensor map is tensormap(ARRAY, BOX, SWIZZLE) with a box such as 64x32, innermost extent "
        "first, and a swizzle of none, 32, 64 or 128 bytes");
  }
  return map;
}

TextureArgument texture(const Text& text, const std::vector<std::string>& pieces) {
  TextureArgument texture;
  texture.array = pieces[0];
  bool fits = is_name(texture.array);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const std::string& piece = pieces[i];
    if (piece == "linear" || piece == "point") {
      texture.filters = piece == "linear";
    } else if (piece == "clamp" || piece == "border" || piece == "wrap" || piece == "mirror") {
      texture.outside = piece;
    } else if (piece == "normalized" || piece == "normalised") {
      texture.normalised = true;
    } else if (piece == "fraction") {
      texture.as_fraction = true;
    } else if (piece.starts_with("channels=")) {
      texture.channels = static_cast<int>(parse_integer(
          fmt::format("the channels of {}", text.name()), trimmed(piece.substr(9)), 1, 4));
    } else {
      fits = false;
    }
  }
  if (!fits) {
    text.refuse(
        "a texture is texture(ARRAY), with any of: linear, border, wrap, mirror, normalized, "
        "fraction, channels=2 or channels=4");
  }
  return texture;
}

Argument parse_value(const Text& text, const std::string& name, const std::string& value);

StructArgument structure(const Text& text, const std::string& name,
                         const std::vector<std::string>& pieces) {
  StructArgument argument;
  for (const std::string& piece : pieces) {
    const std::string field = fmt::format("{}.{}", name, argument.fields.size());
    const auto pad = pieces_of_call(text, piece, "pad");
    if (pad.size() == 1) {
      const auto bytes = parse_integer(fmt::format("pad of {}", text.name()), pad[0], 1, 1 << 16);
      BytesArgument zeros{std::vector<std::byte>(static_cast<std::size_t>(bytes))};
      argument.fields.push_back({field, piece, std::move(zeros)});
      continue;
    }
    argument.fields.push_back(parse_value(text, field, piece));
    const auto& kind = argument.fields.back().value;
    if (std::holds_alternative<ArrayArgument>(kind) ||
        std::holds_alternative<PointersArgument>(kind)) {
      text.refuse("an array in a struct is named, and made with --array NAME=VALUE");
    }
  }
  return argument;
}

PointersArgument pointers(const Text& text, const std::string& name,
                          const std::vector<std::string>& pieces) {
  PointersArgument argument;
  for (const std::string& piece : pieces) {
    if (!is_alias(piece) && !piece.starts_with("pointer(")) {
      text.refuse(
          "pointers(...) lists names of arrays, such as a or a+256 (bytes), pointer(VALUE) and "
          "null");
    }
    const std::string element = fmt::format("{}.{}", name, argument.to.size());
    argument.to.push_back(parse_value(text, element, piece));
  }
  return argument;
}

// Parses the value of an argument, unless the value is a file.
Argument parse_value(const Text& text, const std::string& name, const std::string& value) {
  const auto made = [&](auto argument) { return Argument{name, value, std::move(argument)}; };
  if (const auto pieces = pieces_of_call(text, value, "tensormap"); !pieces.empty()) {
    return made(tensor_map(text, pieces));
  }
  if (const auto pieces = pieces_of_call(text, value, "texture"); !pieces.empty()) {
    return made(texture(text, pieces));
  }
  if (const auto pieces = pieces_of_call(text, value, "struct"); !pieces.empty()) {
    return made(structure(text, name, pieces));
  }
  if (const auto pieces = pieces_of_call(text, value, "pointers"); !pieces.empty()) {
    return made(pointers(text, name, pieces));
  }
  if (value.starts_with("pointer(") && value.ends_with(')')) {
    PointerArgument pointer;
    pointer.to.push_back(
        parse_value(text, name + ".*", trimmed(value.substr(8, value.size() - 9))));
    return made(std::move(pointer));
  }
  if (value == "null" || value == "nullptr") return made(NullArgument{});
  for (const std::string word : {"bytes:", "bytes=", "hex:"}) {
    if (value.starts_with(word)) return made(bytes(text, value.substr(word.size())));
  }
  if (value.find('[') != std::string::npos) return made(array(text, value));
  const std::size_t colon = value.find(':');
  if (colon != std::string::npos) {
    return made(scalar(text, value.substr(0, colon), value.substr(colon + 1)));
  }
  if (is_alias(value)) return made(alias(text, value));
  text.refuse(
      "a value is TYPE:NUMBER, TYPE[EXTENT,...]:FILL, FILE.npy, bytes:HEX, struct(FIELD, ...), "
      "tensormap(ARRAY, BOX, SWIZZLE), texture(ARRAY), pointer(VALUE), null, the name of another "
      "array, or "
      "pointers(ARRAY, ...)");
}

// Whether `name` is the name of a variable, with or without namespaces: "ns::table".
bool is_qualified(const std::string& name) {
  const std::size_t scope = name.find("::");
  if (scope == std::string::npos) return is_name(name);
  return is_name(name.substr(0, scope)) && is_qualified(name.substr(scope + 2));
}

NamedFile name_and_value(const Text& text) {
  const std::size_t equals = text.whole.find('=');
  if (equals == std::string::npos) text.refuse("it must be NAME=VALUE");
  NamedFile pair{text.whole.substr(0, equals), text.whole.substr(equals + 1)};
  const bool is_variable = std::string_view(text.option) == "--set";
  if (is_variable ? !is_qualified(pair.name) : !is_name(pair.name)) {
    text.refuse("a name is made of letters, digits and '_'");
  }
  if (pair.path.empty()) text.refuse("there is no value after the '='");
  return pair;
}

}  // namespace

Argument parse_argument(const std::string& option, const std::string& whole) {
  const Text text{option, whole};
  const auto [name, value] = name_and_value(text);
  if (!value.ends_with(".npy")) return parse_value(text, name, value);
  ArrayArgument file;
  file.file = value;
  return {name, value, std::move(file)};
}

NamedFile parse_named_file(const std::string& option, const std::string& whole) {
  return name_and_value({option, whole});
}

}  // namespace tessera::checking
