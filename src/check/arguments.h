// The text of a kernel's arguments, as users type it: "a=f32[64,128]:uniform", "n=i32:64",
// "x=data.npy", "p=bytes:00ff", "s=struct(a, i64:64, f64:1)", "t=tensormap(a, 64x32, 128)". This
// file only parses the text. bind.h checks whether the values fit a kernel, and values.h makes
// their bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lab/data/elements.h"

namespace tessera::checking {

enum class ArrayFill {
  kUninitialised,
  kUniform,
  kIntegers,
  kZeros,
  kOnes,
  kIota,
  kShuffled,
  kRepeated,  // like kShuffled, but a number may occur up to four times
  kConstant
};

// An array in global memory; the kernel gets its address.
struct ArrayArgument {
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape;
  ArrayFill fill = ArrayFill::kUninitialised;
  std::string constant;  // the typed text of kConstant
  std::string file;      // a .npy file, which gives type and shape
};

struct ScalarArgument {
  ElementType type = ElementType::kS32;
  std::array<std::byte, 8> value{};  // the number is in the first size_of(type) bytes
};

// A struct by value, given as bytes.
struct BytesArgument {
  std::vector<std::byte> bytes;
};

struct Argument;

// A struct by value, given field by field, each at its natural alignment: numbers, addresses of
// arrays, bytes, tensor maps, structs.
struct StructArgument {
  std::vector<Argument> fields;
};

// A pointer to a value in global memory: a struct or a tensor map.
struct PointerArgument {
  std::vector<Argument> to;  // one
};

// The argument is a null pointer.
struct NullArgument {};

// The address of an array that another argument has made, or of a byte in that array.
struct AliasArgument {
  std::string array;
  std::uint64_t offset = 0;
};

// An array of addresses in global memory. Each address is that of an array or a value, or null.
struct PointersArgument {
  std::vector<Argument> to;  // AliasArgument, NullArgument or PointerArgument
};

// A tensor map over an array; extents are innermost first. Empty `sizes` and `strides` mean those
// of the whole array.
struct TensorMapArgument {
  std::string array;
  std::vector<std::int64_t> box;
  int swizzle = 0;                    // bytes of the pattern: 0, 32, 64 or 128
  std::vector<std::int64_t> sizes;    // elements
  std::vector<std::int64_t> strides;  // bytes, of the second dimension on
  std::vector<std::int64_t> steps;    // elements from one to the next of the box
  std::uint64_t offset = 0;           // bytes from the begin of the array to the first element
  bool fills_nan = false;             // fill value outside the tensor is NaN
};

// A texture object over an array. If a texel has several channels, the channels are the last extent
// of the array.
struct TextureArgument {
  std::string array;
  int channels = 1;
  std::string outside = "clamp";  // or border, wrap, mirror
  bool filters = false;           // linear filtering
  bool normalised = false;        // normalised coordinates
  bool as_fraction = false;       // integers are read as floats
};

struct Argument {
  std::string name, text;  // "n", "i32:64"
  std::variant<ArrayArgument, ScalarArgument, BytesArgument, StructArgument, TensorMapArgument,
               NullArgument, AliasArgument, PointersArgument, PointerArgument, TextureArgument>
      value;
};

// Parses the "NAME=VALUE" of an option. Throws a kBadArgument that names the option, the text and
// the rule.
Argument parse_argument(const std::string& option, const std::string& text);

// Returns NAME and FILE of "NAME=FILE.npy".
struct NamedFile {
  std::string name, path;
};
NamedFile parse_named_file(const std::string& option, const std::string& text);

}  // namespace tessera::checking
