// Element types (numbers in memory) and compute types (how elements are multiplied and summed).
// Each kind has one table with sizes, names, ranges and rounding, so that a new type is a new row.
// Code that does not support a type names the type in an error. Pure C++.
#pragma once

#include <string>
#include <string_view>

#include "base/element_type.h"
#include "base/status.h"

namespace tessera {

enum class NumberKind { kFloat, kSigned, kUnsigned, kNone };

struct ElementFacts {
  ElementType type;
  std::string_view name;  // "bf16"
  int bytes;
  NumberKind kind;
  int digits;      // significant bits of a float, the hidden one included; value bits of an integer
  int smallest;    // log2 of a float's smallest positive number
  double largest;  // the largest finite number (64-bit integers: rounded up)
  bool has_infinities;
};

// Returns the table row of an element type. Throws kBadArgument for a value outside of the enum.
const ElementFacts& facts_of(ElementType type);

inline int size_of(ElementType type) { return facts_of(type).bytes; }  // bytes
std::string_view name_of(ElementType type);  // "f32"; "unknown" for a value outside of the enum
bool is_float(ElementType type);
// The unit roundoff: half of the distance from 1 to the next number; 0 for integers.
double unit_roundoff(ElementType type);
// Parses a name. Throws kBadArgument, with `argument` and a list of the accepted names.
ElementType parse_element_type(std::string_view argument, std::string_view name);
// Throws kUnsupported with the message "<what> does not take elements of type made-up".
[[noreturn]] void refuse_type(std::string_view what, ElementType type);

// How elements are multiplied and summed. Operands may be rounded first (TF32). A product is exact
// in the type of the sum, or rounded to it.
enum class ComputeType {
  kF64,
  kF32,
  kTf32,  // f32 operands rounded to 11 significant bits, products summed in f32
  kF16,   // products summed in f16
  kS32,
  kF16x3,  // each f32 operand is split into two f16 terms; three of their products, summed in f32
  kMadeUp,
};

struct ComputeFacts {
  ComputeType type;
  std::string_view name;
  ElementType sum;     // the type of the sum, and of alpha and beta
  int operand_digits;  // the most significant bits of an operand that are multiplied
  int terms = 1;       // numbers that an operand is split into, each multiplied separately
};

const ComputeFacts& facts_of(ComputeType type);
std::string_view name_of(ComputeType type);
ComputeType parse_compute_type(std::string_view argument, std::string_view name);

// The types of the operands and of the sums of one product.
struct Types {
  ElementType a = ElementType::kF32, b = ElementType::kF32;
  ElementType c = ElementType::kF32, d = ElementType::kF32;
  ComputeType compute = ComputeType::kF32;

  bool operator==(const Types&) const = default;
};

// Returns types in which A, B, C and D all have the element type `type`.
constexpr Types same_types(ElementType type, ComputeType compute) {
  return {type, type, type, type, compute};
}

// Types with a single name on the command line: "bf16" means BF16 for A to D, and FP32 for sums.
inline constexpr Types kF64Types = same_types(ElementType::kF64, ComputeType::kF64);
inline constexpr Types kF32Types = same_types(ElementType::kF32, ComputeType::kF32);
inline constexpr Types kTf32Types = same_types(ElementType::kF32, ComputeType::kTf32);
inline constexpr Types kF16x3Types = same_types(ElementType::kF32, ComputeType::kF16x3);
inline constexpr Types kF16Types = same_types(ElementType::kF16, ComputeType::kF32);
inline constexpr Types kBf16Types = same_types(ElementType::kBf16, ComputeType::kF32);
// FP16 and BF16 operands with an FP32 D. The command line has no single word for these types.
inline constexpr Types kF16ToF32Types{ElementType::kF16, ElementType::kF16, ElementType::kF32,
                                      ElementType::kF32, ComputeType::kF32};
inline constexpr Types kBf16ToF32Types{ElementType::kBf16, ElementType::kBf16, ElementType::kF32,
                                       ElementType::kF32, ComputeType::kF32};
inline constexpr Types kE4m3Types{ElementType::kE4m3, ElementType::kE4m3, ElementType::kBf16,
                                  ElementType::kBf16, ComputeType::kF32};
inline constexpr Types kS8Types{ElementType::kS8, ElementType::kS8, ElementType::kS32,
                                ElementType::kS32, ComputeType::kS32};

// The single name of the types ("bf16"), or the names of all five types ("bf16,bf16,f32,f32,f32").
std::string name_of(const Types& types);
// Describes types: "bf16 x bf16 -> f32 with compute f32"; adds "+ bf16" if C differs from D.
std::string describe(const Types& types);
// Returns an error if a type is not a value of its enum.
Status check(const Types& types);
// Parses types as name_of(Types) writes them: one name, or five. Throws kBadArgument with a list of
// the accepted names.
Types parse_types(std::string_view argument, std::string_view text);
// Returns the named types whose A to D are all `type`. Throws kUnsupported if there is no name.
Types types_for(ElementType type);
std::string named_types();  // "f64, f32, ..."

}  // namespace tessera
