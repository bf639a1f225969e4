// Turns operands into values: registers, constants and addresses of symbols.
#include "vgpu/exec/decode/decoder.h"

#include <bit>

namespace tessera::vgpu {
namespace {

// Returns the bits that a register of this kind holds for the literal.
std::uint64_t literal_bits(const ptx::Operand& operand, Scalar scalar) {
  if (operand.kind == ptx::OperandKind::kInteger) {
    if (scalar == Scalar::kF32) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(operand.integer));
    }
    if (scalar == Scalar::kF64) {
      return std::bit_cast<std::uint64_t>(static_cast<double>(operand.integer));
    }
    return static_cast<std::uint64_t>(operand.integer);
  }
  const bool wide = operand.kind == ptx::OperandKind::kFloat64;
  if (wide && bits_of(scalar) == 32) {
    const auto value = std::bit_cast<double>(operand.bits);
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (!wide && bits_of(scalar) == 64) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  }
  return operand.bits;
}

}  // namespace

// ---- values -------------------------------------------------------------------------------------

Value Decoder::value_of_register(const std::string& name) {
  const auto found = registers_.find(name);
  if (found == registers_.end()) unsupported("register " + name + " cannot be used here");
  return found->second;
}

Scalar Decoder::declared(const ptx::Operand& operand) const {
  const auto found = registers_.find(operand.name);
  return operand.kind != ptx::OperandKind::kRegister || found == registers_.end()
             ? Scalar::kNone
             : draft_.values[found->second].scalar;
}

Value Decoder::prefilled(Prefill prefill, Scalar scalar) {
  const auto value = static_cast<Value>(draft_.values.size());
  prefill.scalar = scalar;
  prefill.offset = value;
  draft_.values.push_back({scalar, true});
  draft_.prefills.push_back(prefill);
  return value;
}

Value Decoder::constant(Scalar scalar, std::uint64_t bits) {
  const int width = bits_of(scalar);
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  const auto [at, is_new] = constants_.try_emplace({width, bits}, kNoValue);
  if (is_new) {
    Prefill prefill{Prefill::Kind::kConstant, scalar};
    prefill.bits = bits;
    at->second = prefilled(prefill, scalar);
  }
  return at->second;
}

Value Decoder::shared_address(Scalar scalar, std::uint64_t bits) {
  const auto [at, is_new] = shared_addresses_.try_emplace({bits_of(scalar), bits}, kNoValue);
  if (is_new) {
    Prefill prefill{Prefill::Kind::kSharedAddress, scalar};
    prefill.bits = bits;
    at->second = prefilled(prefill, scalar);
  }
  return at->second;
}

Value Decoder::temporary(Scalar scalar) {
  draft_.values.push_back({scalar});
  return static_cast<Value>(draft_.values.size() - 1);
}

Value Decoder::condition_code() {
  if (condition_code_ == kNoValue) condition_code_ = temporary(Scalar::kPredicate);
  return condition_code_;
}

Value Decoder::read(const ptx::Operand& operand, Scalar scalar) {
  switch (operand.kind) {
    case ptx::OperandKind::kRegister: {
      if (!registers_.contains(operand.name)) return special(operand.name, scalar);
      const Value value = registers_.at(operand.name);
      const int width = bits_of(draft_.values[value].scalar);
      if (width == bits_of(scalar)) return value;
      unsupported("operand " + operand.name + " has " + std::to_string(width) + " bits, not " +
                  std::to_string(bits_of(scalar)));
    }
    case ptx::OperandKind::kInteger:
    case ptx::OperandKind::kFloat32:
    case ptx::OperandKind::kFloat64:
      return constant(scalar, literal_bits(operand, scalar));
    case ptx::OperandKind::kSymbol:
      return symbol(operand.name, operand.integer, scalar);
    default:
      unsupported("an operand of this kind is not implemented here");
  }
}

Value Decoder::write(const ptx::Operand& operand, Scalar scalar) {
  if (operand.kind == ptx::OperandKind::kSink) return temporary(scalar);
  if (operand.kind != ptx::OperandKind::kRegister) unsupported("a register must be written");
  const Value value = value_of_register(operand.name);
  if (draft_.values[value].permanent) unsupported("this register cannot be written");
  if (bits_of(draft_.values[value].scalar) != bits_of(scalar)) {
    unsupported("destination " + operand.name + " has the wrong width");
  }
  return value;
}

Value Decoder::symbol(const std::string& name, std::int64_t offset, Scalar scalar) {
  const auto more = static_cast<std::uint64_t>(offset);
  if (const auto local = locals_.find(name); local != locals_.end()) {
    Prefill prefill{Prefill::Kind::kLocalAddress, scalar};
    prefill.bits = local->second + more;
    return prefilled(prefill, scalar);
  }
  if (const auto param = params_.offsets.find(name); param != params_.offsets.end()) {
    return constant(scalar, kCallParamBase + param->second + more);
  }
  Window window;
  std::uint64_t address;
  std::uint32_t index;
  if (scope_.find_variable(function_, name, window, address)) {
    if (window == Window::kShared) return shared_address(scalar, address + more);
    return constant(scalar, address + more);
  }
  if (scope_.find_function(name, index)) return constant(scalar, scope_.function_address(name));
  unsupported("the name " + name + " is not known");
}

Window Decoder::window_of(const std::string& name) {
  if (locals_.contains(name)) return Window::kLocal;
  if (params_.offsets.contains(name)) return Window::kParam;
  Window window = Window::kGlobal;
  std::uint64_t address;
  scope_.find_variable(function_, name, window, address);
  return window;
}

Value Decoder::address(const ptx::Operand& operand, Window window, std::int64_t& immediate,
                       bool& wide) {
  if (operand.kind != ptx::OperandKind::kAddress) unsupported("an address was expected");
  immediate = 0;
  wide = true;
  if (operand.name.empty()) {
    return constant(Scalar::k64, static_cast<std::uint64_t>(operand.integer));
  }
  if (!operand.address_is_register) {
    const std::uint64_t base =
        window == Window::kGeneric ? window_base(window_of(operand.name)) : 0;
    return symbol(operand.name, operand.integer + static_cast<std::int64_t>(base), Scalar::k64);
  }
  immediate = operand.integer;
  const Value value = value_of_register(operand.name);
  wide = bits_of(draft_.values[value].scalar) == 64;
  if (!wide && bits_of(draft_.values[value].scalar) != 32) unsupported("this is no address");
  return value;
}

}  // namespace tessera::vgpu
