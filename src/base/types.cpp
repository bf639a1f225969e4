#include "base/types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

namespace tessera {
namespace {

constexpr ElementFacts float_type(ElementType type, std::string_view name, int bytes, int digits,
                                  int smallest, double largest, bool has_infinities = true) {
  return {type, name, bytes, NumberKind::kFloat, digits, smallest, largest, has_infinities};
}

constexpr ElementFacts integer_type(ElementType type, std::string_view name, int bytes,
                                    NumberKind kind) {
  const int digits = 8 * bytes - (kind == NumberKind::kSigned ? 1 : 0);
  double beyond = 1;
  for (int i = 0; i < digits; ++i) beyond *= 2;
  return {type, name, bytes, kind, digits, 0, beyond - 1, false};
}

constexpr auto kSigned = NumberKind::kSigned, kUnsigned = NumberKind::kUnsigned;
constexpr std::array kElements = {
    float_type(ElementType::kF64, "f64", 8, 53, -1074, 0x1.fffffffffffffp1023),
    float_type(ElementType::kF32, "f32", 4, 24, -149, 0x1.fffffep127),
    float_type(ElementType::kF16, "f16", 2, 11, -24, 65504),
    float_type(ElementType::kBf16, "bf16", 2, 8, -133, 0x1.fep127),
    float_type(ElementType::kE4m3, "e4m3", 1, 4, -9, 448, false),
    float_type(ElementType::kE5m2, "e5m2", 1, 3, -16, 57344),
    integer_type(ElementType::kS8, "s8", 1, kSigned),
    integer_type(ElementType::kU8, "u8", 1, kUnsigned),
    integer_type(ElementType::kS16, "s16", 2, kSigned),
    integer_type(ElementType::kU16, "u16", 2, kUnsigned),
    integer_type(ElementType::kS32, "s32", 4, kSigned),
    integer_type(ElementType::kU32, "u32", 4, kUnsigned),
    integer_type(ElementType::kS64, "s64", 8, kSigned),
    integer_type(ElementType::kU64, "u64", 8, kUnsigned),
    ElementFacts{ElementType::kMadeUp, "made-up", 2, NumberKind::kNone, 0, 0, 0, false},
};

constexpr std::array kComputes = {
    ComputeFacts{ComputeType::kF64, "f64", ElementType::kF64, 53},
    ComputeFacts{ComputeType::kF32, "f32", ElementType::kF32, 24},
    ComputeFacts{ComputeType::kTf32, "tf32", ElementType::kF32, 11},
    ComputeFacts{ComputeType::kF16, "f16", ElementType::kF16, 11},
    ComputeFacts{ComputeType::kS32, "s32", ElementType::kS32, 31},
    ComputeFacts{ComputeType::kF16x3, "f16x3", ElementType::kF32, 23, 2},
    ComputeFacts{ComputeType::kMadeUp, "made-up", ElementType::kMadeUp, 0},
};

template <class Table>
constexpr bool is_in_order(const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].type) != i) return false;
  }
  return true;
}
static_assert(is_in_order(kElements) && is_in_order(kComputes));

struct Word {
  std::string_view name;
  Types types;
};
constexpr Word kWords[] = {{"f64", kF64Types}, {"f32", kF32Types},    {"tf32", kTf32Types},
                           {"f16", kF16Types}, {"bf16", kBf16Types},  {"e4m3", kE4m3Types},
                           {"s8", kS8Types},   {"f16x3", kF16x3Types}};

template <class Table, class Type>
const auto* row_of(const Table& table, Type type) {
  const auto at = static_cast<std::size_t>(type);
  return at < table.size() ? &table[at] : nullptr;
}

template <class Table, class Type>
const auto& row_or_throw(const Table& table, const char* what, Type type) {
  if (const auto* row = row_of(table, type)) return *row;
  throw StatusError(Status::bad_argument(std::string(what) + " is number " +
                                         std::to_string(static_cast<int>(type)) +
                                         ", but there is no such type"));
}

[[noreturn]] void refuse_name(std::string_view argument, std::string_view name,
                              const std::string& accepted) {
  throw StatusError(Status::bad_argument(std::string(argument) + " is '" + std::string(name) +
                                         "', but must be one of: " + accepted));
}

template <class Table>
auto parse_row(const Table& table, std::string_view argument, std::string_view name) {
  std::string accepted;
  for (const auto& row : table) {
    if (row.type == decltype(row.type)::kMadeUp) continue;
    if (row.name == name) return row.type;
    accepted += (accepted.empty() ? "" : ", ") + std::string(row.name);
  }
  refuse_name(argument, name, accepted);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0, comma = 0; comma != text.npos; begin = comma + 1) {
    comma = text.find(',', begin);
    words.push_back(text.substr(begin, comma == text.npos ? comma : comma - begin));
  }
  return words;
}

}  // namespace

const ElementFacts& facts_of(ElementType type) {
  return row_or_throw(kElements, "element type", type);
}

const ComputeFacts& facts_of(ComputeType type) {
  return row_or_throw(kComputes, "compute type", type);
}

std::string_view name_of(ElementType type) {
  const ElementFacts* row = row_of(kElements, type);
  return row ? row->name : "unknown";
}

std::string_view name_of(ComputeType type) {
  const ComputeFacts* row = row_of(kComputes, type);
  return row ? row->name : "unknown";
}

bool is_float(ElementType type) { return facts_of(type).kind == NumberKind::kFloat; }

double unit_roundoff(ElementType type) {
  const ElementFacts& facts = facts_of(type);
  if (facts.kind == NumberKind::kNone) refuse_type("rounding", type);
  return facts.kind == NumberKind::kFloat ? std::ldexp(1.0, -facts.digits) : 0;
}

ElementType parse_element_type(std::string_view argument, std::string_view name) {
  return parse_row(kElements, argument, name);
}

ComputeType parse_compute_type(std::string_view argument, std::string_view name) {
  return parse_row(kComputes, argument, name);
}

void refuse_type(std::string_view what, ElementType type) {
  throw StatusError(Status::unsupported(std::string(what) + " does not take elements of type " +
                                        std::string(name_of(type))));
}

std::string name_of(const Types& types) {
  for (const Word& word : kWords) {
    if (word.types == types) return std::string(word.name);
  }
  std::string text;
  for (const ElementType type : {types.a, types.b, types.c, types.d}) {
    text += std::string(name_of(type)) + ",";
  }
  return text + std::string(name_of(types.compute));
}

std::string describe(const Types& types) {
  std::string text = std::string(name_of(types.a)) + " x " + std::string(name_of(types.b));
  if (types.c != types.d) text += " + " + std::string(name_of(types.c));
  return text + " -> " + std::string(name_of(types.d)) + " with compute " +
         std::string(name_of(types.compute));
}

Types parse_types(std::string_view argument, std::string_view text) {
  for (const Word& word : kWords) {
    if (word.name == text) return word.types;
  }
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != 5) {
    refuse_name(argument, text, named_types() + "; or five: types of A, B, C, D and compute");
  }
  return {parse_element_type(argument, words[0]), parse_element_type(argument, words[1]),
          parse_element_type(argument, words[2]), parse_element_type(argument, words[3]),
          parse_compute_type(argument, words[4])};
}

Status check(const Types& types) {
  try {
    for (const ElementType type : {types.a, types.b, types.c, types.d}) facts_of(type);
    facts_of(types.compute);
  } catch (const StatusError& error) {
    return error.status();
  }
  return {};
}

Types types_for(ElementType type) {
  for (const Word& word : kWords) {
    if (word.types == same_types(type, word.types.compute)) return word.types;
  }
  refuse_type("a product of one type", type);
}

std::string named_types() {
  std::string names;
  for (const Word& word : kWords) {
    names += (names.empty() ? "" : ", ") + std::string(word.name);
  }
  return names;
}

}  // namespace tessera
