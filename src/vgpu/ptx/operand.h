// One operand of an instruction: register, literal, name, address, vector or sink.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/scope.h"

namespace tessera::vgpu::ptx {

// Names of the module that a body may use: its variables and functions.
using IsModuleName = std::function<bool(std::string_view)>;

// The components of a vector register, in order.
constexpr std::string_view kComponents = "xyzw";

class OperandParser {
 public:
  OperandParser(Cursor& cursor, Scopes& scopes, const IsModuleName& is_module_name)
      : cursor_(cursor), scopes_(scopes), is_module_name_(is_module_name) {}

  // The place of the operand in its function, where a label is resolved later.
  struct Place {
    std::size_t instruction = 0, operand = 0;
  };
  Operand parse(Place place);
  // "{a, b}" or "(a, b)"; no labels.
  Operand parse_list(char open, char close);
  // The unique name of a declared register.
  std::string parse_register(const Token& token);

 private:
  Operand parse_number();
  Operand parse_name(Place place);
  Operand parse_address();
  void parse_second(Operand& operand);
  std::int64_t parse_offset();
  std::string_view take_component(const Token& token);
  Operand bound_operand(const Token& token, const Binding& binding);
  Operand unbound_operand(const Token& token, Place place);

  Cursor& cursor_;
  Scopes& scopes_;
  const IsModuleName& is_module_name_;
};

}  // namespace tessera::vgpu::ptx
