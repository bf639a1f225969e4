// Names of operations. Modifiers without an effect are dropped. Modifiers that change the result
// become options. All others are part of the name.
#include "vgpu/exec/decode/form.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "vgpu/ptx/declaration.h"

namespace tessera::vgpu {
namespace {

constexpr std::array<std::pair<std::string_view, Options>, 14> kOptionNames = {{
    {"rn", kDefault},
    {"rz", kRz},
    {"rm", kRm},
    {"rp", kRp},
    {"ftz", kFtz},
    {"sat", kSat},
    {"approx", kApprox},
    {"full", kApprox},
    {"NaN", kNanOption},
    {"xorsign", kXorsign},
    {"abs", kDefault},
    {"relu", kRelu},
    {"uni", kDefault},
    {"noftz", kDefault},
}};

const std::pair<std::string_view, Options>* option_named(std::string_view modifier) {
  const auto found = std::find_if(kOptionNames.begin(), kOptionNames.end(),
                                  [&](const auto& named) { return named.first == modifier; });
  return found == kOptionNames.end() ? nullptr : &*found;
}

std::string key_of(std::string_view name, Options options) {
  std::string key(name);
  key += '/';
  key += std::to_string(options);
  return key;
}

}  // namespace

Form form_of(const ptx::Instruction& instruction) {
  Form form{instruction.opcode, kDefault};
  const ptx::Type type =
      instruction.modifiers.empty() ? ptx::Type{} : type_named(instruction.modifiers.back());
  const bool is_integer =
      type.kind == ptx::TypeKind::kUnsigned || type.kind == ptx::TypeKind::kSigned;
  for (const std::string& modifier : instruction.modifiers) {
    if (is_integer && modifier == "rn") form.name += ".rn";  // no operation's name has ".rn"
    if (const auto* option = option_named(modifier)) {
      form.options |= option->second;
    } else {
      form.name += '.' + modifier;
    }
  }
  return form;
}

std::string option_in_name(std::string_view name) {
  for (std::size_t dot = name.find('.'); dot != name.npos;) {
    const std::size_t next = name.find('.', dot + 1);
    const std::string_view modifier = name.substr(dot + 1, next - dot - 1);
    const auto* option = option_named(modifier);
    if (option && option->second != kDefault) return std::string(modifier);
    dot = next;
  }
  return "";
}

OperationSet::OperationSet(const OperationTable* const* tables) {
  for (; *tables; ++tables) {
    for (std::uint32_t i = 0; i < (*tables)->count; ++i) {
      const Operation& operation = (*tables)->first[i];
      const std::string name = operation.name, option = option_in_name(name);
      if (!option.empty()) {
        throw std::logic_error("Row " + name + ": ." + option + " is an option, no part of a name");
      }
      if (!by_name_.emplace(key_of(name, operation.options), &operation).second) {
        throw std::logic_error("Two rows for " + name);
      }
    }
  }
}

const OperationSet& OperationSet::choose(bool allow_avx512) {
  static const bool has_avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl");
  static const OperationSet narrow(avx2::kTables);
  static const OperationSet wide(avx512::kTables);
  return allow_avx512 && has_avx512 ? wide : narrow;
}

const Operation* OperationSet::find(std::string_view name, Options options) const {
  const auto found = by_name_.find(key_of(name, options));
  return found == by_name_.end() ? nullptr : found->second;
}

bool has_modifier(const ptx::Instruction& instruction, std::string_view modifier) {
  const auto& all = instruction.modifiers;
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

ptx::Type type_named(std::string_view word) {
  return ptx::type_from_word(word).value_or(ptx::Type{});
}

int bits_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::kNone:
      return 0;
    case Scalar::kPredicate:
      return 1;
    case Scalar::k16:
    case Scalar::kF16:
      return 16;
    case Scalar::k32:
    case Scalar::kF32:
      return 32;
    case Scalar::k64:
    case Scalar::kF64:
      return 64;
    case Scalar::k128:
      return 128;
  }
  return 0;
}

Scalar register_scalar(const ptx::Type& type) {
  if (type.kind == ptx::TypeKind::kPred) return Scalar::kPredicate;
  switch (type.bits) {
    case 8:
    case 16:
      return Scalar::k16;
    case 32:
      return Scalar::k32;
    case 64:
      return Scalar::k64;
    case 128:
      return Scalar::k128;
    default:
      return Scalar::kNone;
  }
}

}  // namespace tessera::vgpu
