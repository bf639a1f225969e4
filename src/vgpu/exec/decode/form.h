// Turns "fma.rn.ftz.f32" into the name "fma.f32" and options, as in the operation tables, and looks
// them up there.
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

// Returns the first modifier in a row's name that form_of() makes an option, such as "sat": no
// instruction can find this row. Returns "" if there is none.
std::string option_in_name(std::string_view name);

// The operations for one instruction set of the host, by name and options.
class OperationSet {
 public:
  // Returns the AVX-512 set if it is allowed and the host has AVX-512, else the AVX2 set.
  static const OperationSet& choose(bool allow_avx512);
  // Returns null if there is no such operation.
  const Operation* find(std::string_view name, Options options = kDefault) const;

 private:
  explicit OperationSet(const OperationTable* const* tables);
  std::unordered_map<std::string, const Operation*> by_name_;
};

bool has_modifier(const ptx::Instruction& instruction, std::string_view modifier);
// Returns {kUnsigned, 32} for "u32", and kind kNone if the word is not a type.
ptx::Type type_named(std::string_view word);
int bits_of(Scalar scalar);
// Returns the kind of value in a register of this type; kNone if there is no such register.
Scalar register_scalar(const ptx::Type& type);

}  // namespace tessera::vgpu
