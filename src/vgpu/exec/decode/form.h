// "fma.rn.ftz.f32" -> the name that the operation tables use, "fma.f32", and its options; and the
// look-up in those tables.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "vgpu/program/operation.h"
#include "vgpu/ptx/ast.h"

namespace tessera::vgpu {

struct Form {
  std::string name;
  Options options = kDefault;
};

Form form_of(const ptx::Instruction& instruction);

// The modifier of a row's name that form_of() turns into an option, such as "sat": no instruction
// finds a row of such a name. Empty for a name that can be found.
std::string option_in_name(std::string_view name);

// All operations of one instruction set of the host, by name and options.
class OperationSet {
 public:
  // The AVX-512 set where the host has it and it is allowed, else the AVX2 set.
  static const OperationSet& choose(bool allow_avx512);
  // Null if there is no such operation.
  const Operation* find(std::string_view name, Options options = kDefault) const;

 private:
  explicit OperationSet(const OperationTable* const* tables);
  std::unordered_map<std::string, const Operation*> by_name_;
};

bool has_modifier(const ptx::Instruction& instruction, std::string_view modifier);
// "u32" -> {kUnsigned, 32}; kNone when it is not a type.
ptx::Type type_named(std::string_view word);
int bits_of(Scalar scalar);
// The kind of value in a register of this type; kNone when there is no such register.
Scalar register_scalar(const ptx::Type& type);

}  // namespace tessera::vgpu
