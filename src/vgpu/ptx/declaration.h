// Variable declarations: .reg .pred %p<4>; .shared .align 16 .b8 tile[2][64]; .const .b32 t[] =
// {1};
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"

namespace tessera::vgpu::ptx {

// ".f32" without its dot; nullopt for a word that names no type.
std::optional<Type> type_from_word(std::string_view word);
std::string_view word_of(const Type& type);  // "f32"; "?" if the type has no name
std::optional<Space> space_from_word(std::string_view word);

// One declared name. A range "%r<12>" is %r0 to %r11.
struct Declarator {
  Token name;
  std::optional<std::uint64_t> range;
  std::uint64_t count = 1;
  std::vector<std::byte> init;
  std::vector<InitialAddress> addresses;
};

struct Declaration {
  Space space = Space::kRegister;
  Type type;
  int vector_width = 1;
  int align = 0;
  bool is_pointer = false;  // .ptr
  std::vector<Declarator> declarators;
};

// Reads what follows the state space, up to the ';', which is consumed.
Declaration parse_declaration(Cursor& cursor, Space space);

// One parameter of a function, up to the ',' or ')' after it.
Variable parse_parameter(Cursor& cursor);

// The variable of a declarator, outside the register space.
Variable make_variable(const Declaration& declaration, const Declarator& declarator);

}  // namespace tessera::vgpu::ptx
