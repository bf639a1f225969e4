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

// Returns the type with this name, which has no dot ("f32"); nullopt if there is none.
std::optional<Type> type_from_word(std::string_view word);
std::string_view word_of(const Type& type);  // returns "f32"; "?" if the type has no name
std::optional<Space> space_from_word(std::string_view word);

// One declared name. "%r<12>" has the range 12 and declares %r0 to %r11.
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

// Reads a declaration after its state space, up to and including the ';'.
Declaration parse_declaration(Cursor& cursor, Space space);

// Reads one parameter of a function, up to the ',' or ')' after it.
Variable parse_parameter(Cursor& cursor);

// Makes the variable of a declarator. The state space must not be .reg.
Variable make_variable(const Declaration& declaration, const Declarator& declarator);

}  // namespace tessera::vgpu::ptx
