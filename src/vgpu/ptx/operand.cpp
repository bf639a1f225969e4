// Operands. The spelling of a bare word does not tell whether it is a register, a variable or a
// label. Declared names are looked up at once. All other names must turn out to be labels of an
// enclosing scope or names of the module.
#include "vgpu/ptx/operand.h"

#include <array>
#include <utility>

namespace tessera::vgpu::ptx {
namespace {

// Whether this is a special register; numbered ones, such as %envreg3, are included.
bool is_special_register(std::string_view name) {
  constexpr std::array<std::string_view, 37> kNames = {"%tid",
                                                       "%ntid",
                                                       "%laneid",
                                                       "%warpid",
                                                       "%nwarpid",
                                                       "%ctaid",
                                                       "%nctaid",
                                                       "%smid",
                                                       "%nsmid",
                                                       "%gridid",
                                                       "%is_explicit_cluster",
                                                       "%clusterid",
                                                       "%nclusterid",
                                                       "%cluster_ctaid",
                                                       "%cluster_nctaid",
                                                       "%cluster_ctarank",
                                                       "%cluster_nctarank",
                                                       "%lanemask_eq",
                                                       "%lanemask_le",
                                                       "%lanemask_lt",
                                                       "%lanemask_ge",
                                                       "%lanemask_gt",
                                                       "%clock",
                                                       "%clock_hi",
                                                       "%clock64",
                                                       "%globaltimer",
                                                       "%globaltimer_lo",
                                                       "%globaltimer_hi",
                                                       "%total_smem_size",
                                                       "%aggr_smem_size",
                                                       "%dynamic_smem_size",
                                                       "%current_graph_exec",
                                                       "%reserved_smem_offset_begin",
                                                       "%reserved_smem_offset_end",
                                                       "%reserved_smem_offset_cap",
                                                       "%reserved_smem_offset_0",
                                                       "%reserved_smem_offset_1"};
  for (std::string_view known : kNames) {
    if (name == known) return true;
  }
  return name.starts_with("%pm") || name.starts_with("%envreg");
}

constexpr OperandParser::Place kNowhere{~std::size_t{0}, 0};

}  // namespace

std::string OperandParser::parse_register(const Token& token) {
  const std::optional<Binding> binding = scopes_.find(token.text);
  if (!binding || binding->space != Space::kRegister) {
    cursor_.fail_at(token, "this register is not declared");
  }
  return binding->name;
}

Operand OperandParser::parse(Place place) {
  const Token& token = cursor_.peek();
  if (cursor_.is_punct('{')) return parse_list('{', '}');
  if (cursor_.is_punct('[')) return parse_address();
  if (cursor_.accept('!')) {
    Operand operand = parse(place);
    operand.negate = true;
    return operand;
  }
  if (token.kind == TokenKind::kWord) return parse_name(place);
  return parse_number();
}

// Reads "{a, b}" or "(a, b)".
Operand OperandParser::parse_list(char open, char close) {
  Operand list;
  list.kind = OperandKind::kVector;
  cursor_.expect(open);
  if (cursor_.accept(close)) return list;
  do {
    list.elements.push_back(parse(kNowhere));
  } while (cursor_.accept(','));
  cursor_.expect(close);
  return list;
}

Operand OperandParser::parse_number() {
  Operand operand;
  const bool negative = cursor_.accept('-');
  const bool inverted = !negative && cursor_.accept('~');
  if (!negative && !inverted) cursor_.accept('+');
  const Token& token = cursor_.next();
  const std::uint64_t value = token.value;
  switch (token.kind) {
    case TokenKind::kInteger:
      operand.kind = OperandKind::kInteger;
      operand.integer = static_cast<std::int64_t>(negative ? 0 - value : inverted ? ~value : value);
      return operand;
    case TokenKind::kFloat32:
      operand.kind = OperandKind::kFloat32;
      operand.bits = value ^ (negative ? std::uint64_t{1} << 31 : 0);
      return operand;
    case TokenKind::kFloat64:
      operand.kind = OperandKind::kFloat64;
      operand.bits = value ^ (negative ? std::uint64_t{1} << 63 : 0);
      return operand;
    default:
      cursor_.fail_at(token, "an operand was expected");
  }
}

// Returns "x" if ".x" follows the token, as in "%tid.x", without a space; else "".
std::string_view OperandParser::take_component(const Token& token) {
  const Token& dot = cursor_.peek();
  const bool close = dot.text.data() == token.text.data() + token.text.size() + 1;
  return dot.kind == TokenKind::kDot && close ? cursor_.next().text : std::string_view();
}

Operand OperandParser::parse_name(Place place) {
  const Token& token = cursor_.next();
  Operand operand;
  if (token.text == "_") {
    operand.kind = OperandKind::kSink;
  } else if (token.text == "WARP_SZ") {
    operand.kind = OperandKind::kInteger;
    operand.integer = 32;
  } else if (const std::optional<Binding> binding = scopes_.find(token.text)) {
    operand = bound_operand(token, *binding);
  } else if (is_special_register(token.text)) {
    operand.kind = OperandKind::kRegister;
    operand.name = token.text;
    const std::string_view component = take_component(token);
    if (!component.empty()) operand.name.append(".").append(component);
  } else {
    operand = unbound_operand(token, place);
  }
  if (cursor_.accept('|')) parse_second(operand);
  return operand;
}

Operand OperandParser::bound_operand(const Token& token, const Binding& binding) {
  Operand operand;
  operand.name = binding.name;
  if (binding.space != Space::kRegister) {
    operand.kind = OperandKind::kSymbol;
    operand.integer = parse_offset();
    return operand;
  }
  operand.kind = OperandKind::kRegister;
  const std::string_view component = take_component(token);
  if (!component.empty()) {
    operand.name.append(".").append(component);
  } else if (binding.vector_width > 1) {
    operand = {};
    operand.kind = OperandKind::kVector;
    for (int i = 0; i < binding.vector_width; ++i) {
      Operand& element = operand.elements.emplace_back();
      element.kind = OperandKind::kRegister;
      element.name = binding.name + '.' + kComponents[i];
    }
  }
  return operand;
}

// Makes the operand of an undeclared name: a label or a name of the module. A register, which
// starts with '%', must be declared.
Operand OperandParser::unbound_operand(const Token& token, Place place) {
  if (token.text[0] == '%') cursor_.fail_at(token, "this register is not declared");
  Operand operand;
  operand.kind = OperandKind::kSymbol;
  operand.name = token.text;
  if (place.instruction != kNowhere.instruction) {
    scopes_.use_label(
        {LabelUse::Where::kOperand, place.instruction, place.operand, token.text, token.line});
  } else if (!is_module_name_(token.text)) {
    cursor_.fail_at(token, "this name is not declared");
  }
  operand.integer = parse_offset();
  return operand;
}

// Reads p of "d|p": the second destination. If it is a sink ("_"), it is left empty.
void OperandParser::parse_second(Operand& operand) {
  const Token& token = cursor_.expect(TokenKind::kWord, "a second destination");
  if (token.text != "_") operand.second = parse_register(token);
}

// "+4", "+-4", "-4" or nothing.
std::int64_t OperandParser::parse_offset() {
  if (cursor_.accept('+')) return cursor_.expect_integer("an offset");
  return cursor_.is_punct('-') ? cursor_.expect_integer("an offset") : 0;
}

// Reads "[name + offset]", "[offset]" or "[name, {coordinates}]".
Operand OperandParser::parse_address() {
  Operand operand;
  cursor_.expect('[');
  if (cursor_.is(TokenKind::kWord)) {
    operand = parse_name(kNowhere);
    operand.address_is_register = operand.kind == OperandKind::kRegister;
    if (operand.kind != OperandKind::kRegister && operand.kind != OperandKind::kSymbol) {
      cursor_.fail("a register or a variable was expected in the address");
    }
    if (operand.address_is_register) operand.integer = parse_offset();
  } else {
    operand.integer = cursor_.expect_integer("an address");
  }
  operand.kind = OperandKind::kAddress;
  while (cursor_.accept(',')) {
    Operand inner = parse(kNowhere);
    if (inner.kind == OperandKind::kVector) {
      operand.elements = std::move(inner.elements);
    } else {
      operand.elements.push_back(std::move(inner));
    }
  }
  cursor_.expect(']');
  return operand;
}

}  // namespace tessera::vgpu::ptx
