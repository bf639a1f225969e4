// Parses one operand of an instruction: register, literal, name, address, vector or sink.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/scope.h"

namespace tessera::vgpu::ptx {

// Whether the module declares this name, as a variable or a function.
using IsModuleName = std::function<bool(std::string_view)>;

// The component names of a vector register, in order.
constexpr std::string_view kComponents = "xyzw";

class OperandParser {
 public:
  OperandParser(Cursor& cursor, Scopes& scopes, const IsModuleName& is_module_name)
      : cursor_(cursor), scopes_(scopes), is_module_name_(is_module_name) {}

  // The indices of an instruction and its operand, with which a label is resolved later.
  struct Place {
    std::size_t instruction = 0, operand = 0;
  };
  Operand parse(Place place);
  // Reads "{a, b}" or "(a, b)". The elements may not be labels.
  Operand parse_list(char open, char close);
  // Returns the unique name of a declared register.
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
