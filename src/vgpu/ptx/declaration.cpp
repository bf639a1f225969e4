// Parses everything between a state space and its ';'. Attributes may come in any order. Array
// sizes and initialisers become element counts and bytes here, so that no other code needs their
// syntax.
#include "vgpu/ptx/declaration.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "vgpu/ptx/initial_values.h"

namespace tessera::vgpu::ptx {
namespace {

struct NamedType {
  std::string_view word;
  Type type;
};
constexpr std::array kTypes = {
    NamedType{"pred", {TypeKind::kPred, 1}},
    NamedType{"b8", {TypeKind::kBits, 8}},
    NamedType{"b16", {TypeKind::kBits, 16}},
    NamedType{"b32", {TypeKind::kBits, 32}},
    NamedType{"b64", {TypeKind::kBits, 64}},
    NamedType{"b128", {TypeKind::kBits, 128}},
    NamedType{"u8", {TypeKind::kUnsigned, 8}},
    NamedType{"u16", {TypeKind::kUnsigned, 16}},
    NamedType{"u32", {TypeKind::kUnsigned, 32}},
    NamedType{"u64", {TypeKind::kUnsigned, 64}},
    NamedType{"s8", {TypeKind::kSigned, 8}},
    NamedType{"s16", {TypeKind::kSigned, 16}},
    NamedType{"s32", {TypeKind::kSigned, 32}},
    NamedType{"s64", {TypeKind::kSigned, 64}},
    NamedType{"f16", {TypeKind::kFloat, 16}},
    NamedType{"f32", {TypeKind::kFloat, 32}},
    NamedType{"f64", {TypeKind::kFloat, 64}},
    NamedType{"f16x2", {TypeKind::kFloat16x2, 32}},
    NamedType{"bf16", {TypeKind::kBfloat16, 16}},
    NamedType{"bf16x2", {TypeKind::kBfloat16x2, 32}},
    NamedType{"tf32", {TypeKind::kTf32, 32}},
    NamedType{"e4m3", {TypeKind::kE4m3, 8}},
    NamedType{"e5m2", {TypeKind::kE5m2, 8}},
    NamedType{"texref", {TypeKind::kOther, 64}},
    NamedType{"samplerref", {TypeKind::kOther, 64}},
    NamedType{"surfref", {TypeKind::kOther, 64}},
};

int vector_width(std::string_view word) {
  return word == "v2" ? 2 : word == "v4" ? 4 : word == "v8" ? 8 : 1;
}

int parse_align(Cursor& cursor) {
  const Token& token = cursor.expect(TokenKind::kInteger, "an alignment");
  if (!std::has_single_bit(token.value) || token.value > 1 << 20) {
    cursor.fail_at(token, "an alignment is a power of two");
  }
  return static_cast<int>(token.value);
}

// Skips the attributes after .ptr, such as ".global .align 4". They describe the data that the
// parameter points to, not the parameter.
void skip_pointer_attributes(Cursor& cursor) {
  for (;;) {
    if (cursor.accept_dot("align")) {
      cursor.expect(TokenKind::kInteger, "an alignment");
    } else if (cursor.is(TokenKind::kDot) && space_from_word(cursor.peek().text)) {
      cursor.next();
    } else {
      return;
    }
  }
}

void skip_parentheses(Cursor& cursor) {
  cursor.expect('(');
  while (!cursor.accept(')')) {
    if (cursor.at_end()) cursor.fail("')' was expected");
    cursor.next();
  }
}

// Reads attributes and the type, such as ".align 8 .b8", up to the name.
void parse_attributes(Cursor& cursor, Declaration& declaration) {
  while (cursor.is(TokenKind::kDot)) {
    const Token& token = cursor.next();
    if (token.text == "align") {
      declaration.align = parse_align(cursor);
    } else if (token.text == "ptr") {
      skip_pointer_attributes(cursor);
      declaration.is_pointer = true;
    } else if (token.text == "attribute") {
      skip_parentheses(cursor);
    } else if (const int width = vector_width(token.text); width > 1) {
      declaration.vector_width = width;
    } else if (const auto type = type_from_word(token.text)) {
      declaration.type = *type;
    } else {
      cursor.fail_at(token, "a type or an attribute was expected");
    }
  }
  if (declaration.type.kind == TypeKind::kNone) cursor.fail("a type was expected");
}

// Returns the sizes of "[2][64]"; for "[]" the first one is 0.
std::vector<std::uint64_t> parse_extents(Cursor& cursor) {
  std::vector<std::uint64_t> extents;
  while (cursor.accept('[')) {
    if (extents.empty() && cursor.accept(']')) {
      extents.push_back(0);
      continue;
    }
    extents.push_back(cursor.expect(TokenKind::kInteger, "an array size").value);
    cursor.expect(']');
  }
  return extents;
}

// Returns the number of elements in the list of "x[] = {1, 2, 3}"; the cursor is after the '='.
std::uint64_t count_list_elements(const Cursor& cursor) {
  std::uint64_t commas = 0;
  for (std::size_t i = 0; !cursor.is_punct('}', i); ++i) {
    if (cursor.peek(i).kind == TokenKind::kEnd) cursor.fail("'}' was expected");
    commas += cursor.is_punct(',', i);
  }
  return commas + 1;
}

Declarator parse_declarator(Cursor& cursor, const Declaration& declaration) {
  Declarator declarator{
      .name = cursor.expect(TokenKind::kWord, "a name"), .range = {}, .init = {}, .addresses = {}};
  if (cursor.accept('<')) {
    declarator.range = cursor.expect(TokenKind::kInteger, "a number of registers").value;
    if (*declarator.range > 1 << 20) cursor.fail("too many registers");
    cursor.expect('>');
  }
  std::vector<std::uint64_t> extents = parse_extents(cursor);
  const bool has_init = cursor.accept('=');
  if (has_init && extents.size() == 1 && extents[0] == 0) extents[0] = count_list_elements(cursor);
  if (declaration.vector_width > 1) extents.push_back(declaration.vector_width);
  for (std::uint64_t extent : extents) {
    if (extent != 0 && declarator.count > (std::uint64_t{1} << 40) / extent) {
      cursor.fail_at(declarator.name, "this array is too large");
    }
    declarator.count *= extent;
  }
  if (has_init) {
    if (declarator.count > 1 << 28) cursor.fail_at(declarator.name, "this array is too large");
    declarator.init.resize(declarator.count * declaration.type.bits / 8);
    parse_initial_values(cursor, declaration.type, extents, declarator.init, declarator.addresses);
  }
  return declarator;
}

}  // namespace

std::optional<Type> type_from_word(std::string_view word) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [word](const NamedType& named) { return named.word == word; });
  if (found == kTypes.end()) return std::nullopt;
  return found->type;
}

std::string_view word_of(const Type& type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const NamedType& named) { return named.type == type; });
  return found == kTypes.end() ? "?" : found->word;
}

std::optional<Space> space_from_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Space>, 6> kSpaces = {{
      {"reg", Space::kRegister},
      {"global", Space::kGlobal},
      {"shared", Space::kShared},
      {"local", Space::kLocal},
      {"param", Space::kParam},
      {"const", Space::kConst},
  }};
  for (const auto& [name, space] : kSpaces) {
    if (name == word) return space;
  }
  return std::nullopt;
}

Declaration parse_declaration(Cursor& cursor, Space space) {
  Declaration declaration;
  declaration.space = space;
  parse_attributes(cursor, declaration);
  do {
    declaration.declarators.push_back(parse_declarator(cursor, declaration));
  } while (cursor.accept(','));
  cursor.expect(';');
  return declaration;
}

Variable parse_parameter(Cursor& cursor) {
  const Token& space = cursor.expect(TokenKind::kDot, ".param or .reg");
  if (space.text != "param" && space.text != "reg") {
    cursor.fail_at(space, ".param or .reg was expected");
  }
  Declaration declaration;
  declaration.space = *space_from_word(space.text);
  parse_attributes(cursor, declaration);
  return make_variable(declaration, parse_declarator(cursor, declaration));
}

Variable make_variable(const Declaration& declaration, const Declarator& declarator) {
  Variable variable;
  variable.space = declaration.space;
  variable.type = declaration.type;
  variable.align = declaration.align;
  variable.is_pointer = declaration.is_pointer;
  // A vector is aligned to its whole size.
  if (variable.align == 0 && declaration.vector_width > 1) {
    variable.align = declaration.vector_width * declaration.type.bits / 8;
  }
  variable.name = declarator.name.text;
  variable.count = declarator.count;
  variable.init = declarator.init;
  variable.addresses = declarator.addresses;
  variable.line = static_cast<int>(declarator.name.line);
  return variable;
}

}  // namespace tessera::vgpu::ptx
