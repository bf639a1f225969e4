// Statements and operands. Whether a bare word is a register, a variable or a label cannot be told
// from its spelling: declared names are looked up at once, all others must turn out to be a label
// of an enclosing scope or a name of the module.
#include "vgpu/ptx/body.h"

#include <array>
#include <bit>
#include <utility>

#include "vgpu/ptx/declaration.h"
#include "vgpu/ptx/scope.h"

namespace tessera::vgpu::ptx {
namespace {

// Registers that the hardware provides; names with a number or a component behind them included.
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

constexpr std::string_view kComponents = "xyzw";

class BodyParser {
 public:
  BodyParser(Cursor& cursor, Function& function, const IsModuleName& is_module_name)
      : cursor_(cursor), function_(function), is_module_name_(is_module_name) {}

  void run() {
    scopes_.open();
    for (const auto* list : {&function_.params, &function_.returns}) {
      for (const Variable& variable : *list) scopes_.declare(variable.name, variable.space, 1);
    }
    cursor_.expect('{');
    while (scopes_.depth() > 0) parse_statement();
  }

 private:
  void parse_statement() {
    const Token& token = cursor_.peek();
    if (token.kind == TokenKind::kDot) return parse_directive();
    if (cursor_.accept('{')) return scopes_.open();
    if (cursor_.accept('}')) return close_scope();
    if (cursor_.accept(';')) return;
    if (cursor_.is_punct('@')) return parse_instruction();
    if (token.kind != TokenKind::kWord) {
      cursor_.fail(cursor_.at_end() ? "'}' was expected before the end of the text"
                                    : "an instruction was expected");
    }
    if (cursor_.is_punct(':', 1)) return parse_label();
    parse_instruction();
  }

  void close_scope() {
    if (scopes_.depth() == 1) check_module_names();
    for (Scopes::Resolved& resolved : scopes_.close()) {
      const LabelUse& use = resolved.use;
      if (use.where == LabelUse::Where::kOperand) {
        function_.body[use.owner].operands[use.index].name = std::move(resolved.name);
      } else {
        function_.tables[use.owner].labels[use.index] = std::move(resolved.name);
      }
    }
  }

  // Labels of the outermost scope are known now: what else is used must belong to the module.
  void check_module_names() {
    for (const LabelUse& use : scopes_.open_uses()) {
      if (scopes_.has_label(use.name) || is_module_name_(use.name)) continue;
      cursor_.fail_at({TokenKind::kWord, use.line, use.name, 0}, "this name is not declared");
    }
  }

  // ---- directives -------------------------------------------------------------------------------

  void parse_directive() {
    const std::string_view word = cursor_.peek().text;
    if (word == "loc") return parse_location();
    if (const auto space = space_from_word(word)) {
      cursor_.next();
      return declare(parse_declaration(cursor_, *space));
    }
    cursor_.skip_line();
  }

  // .loc file line column [, function_name label, inlined_at file line column]
  void parse_location() {
    const std::uint32_t text_line = cursor_.next().line;
    source_.file = static_cast<int>(cursor_.expect_integer("a file number"));
    source_.line = static_cast<int>(cursor_.expect_integer("a line number"));
    if (cursor_.peek().line == text_line) cursor_.skip_line();
  }

  void declare(const Declaration& declaration) {
    for (const Declarator& declarator : declaration.declarators) {
      if (declaration.space == Space::kRegister) {
        declare_registers(declaration, declarator);
      } else {
        Variable variable = make_variable(declaration, declarator);
        variable.name = declare_name(declarator.name, declaration.space, 1);
        function_.variables.push_back(std::move(variable));
      }
    }
  }

  std::string declare_name(const Token& token, Space space, int vector_width) {
    std::optional<std::string> name = scopes_.declare(token.text, space, vector_width);
    if (!name) cursor_.fail_at(token, "this name is declared twice");
    return *std::move(name);
  }

  void declare_registers(const Declaration& declaration, const Declarator& declarator) {
    const Token& token = declarator.name;
    if (declarator.range) {
      if (!scopes_.declare_range(token.text, *declarator.range)) {
        cursor_.fail_at(token, "this name is declared twice");
      }
      for (std::uint64_t i = 0; i < *declarator.range; ++i) {
        add_register(declaration, scopes_.unique(std::string(token.text) + std::to_string(i)),
                     token.line);
      }
      return;
    }
    const std::string name = declare_name(token, Space::kRegister, declaration.vector_width);
    if (declaration.vector_width == 1) return add_register(declaration, name, token.line);
    for (int i = 0; i < declaration.vector_width; ++i) {
      add_register(declaration, name + '.' + kComponents[i], token.line);
    }
  }

  void add_register(const Declaration& declaration, std::string name, std::uint32_t line) {
    Variable& variable = function_.variables.emplace_back();
    variable.type = declaration.type;
    variable.name = std::move(name);
    variable.line = static_cast<int>(line);
  }

  // ---- labels -----------------------------------------------------------------------------------

  void parse_label() {
    const Token& token = cursor_.next();
    cursor_.expect(':');
    std::optional<std::string> name = scopes_.declare_label(token.text);
    if (!name) cursor_.fail_at(token, "this label is declared twice");
    if (cursor_.is_dot("branchtargets") || cursor_.is_dot("calltargets")) {
      parse_table(*std::move(name));
    } else if (cursor_.is_dot("callprototype")) {
      function_.tables.push_back({*std::move(name), {}});
      while (!cursor_.accept(';')) {
        if (cursor_.at_end()) cursor_.fail("';' was expected");
        cursor_.next();
      }
    } else {
      function_.labels.push_back({*std::move(name), function_.body.size()});
    }
  }

  void parse_table(std::string name) {
    cursor_.next();
    const std::size_t owner = function_.tables.size();
    BranchTable& table = function_.tables.emplace_back();
    table.name = std::move(name);
    do {
      const Token& token = cursor_.expect(TokenKind::kWord, "a label");
      scopes_.use_label(
          {LabelUse::Where::kTable, owner, table.labels.size(), token.text, token.line});
      table.labels.emplace_back(token.text);
    } while (cursor_.accept(','));
    cursor_.expect(';');
  }

  // ---- instructions -----------------------------------------------------------------------------

  void parse_instruction() {
    Instruction& instruction = function_.body.emplace_back();
    instruction.source = source_;
    if (cursor_.accept('@')) {
      instruction.guard_negated = cursor_.accept('!');
      instruction.guard = parse_register(cursor_.expect(TokenKind::kWord, "a predicate"));
    }
    const Token& opcode = cursor_.expect(TokenKind::kWord, "an instruction");
    instruction.line = static_cast<int>(opcode.line);
    instruction.opcode = opcode.text;
    while (cursor_.is(TokenKind::kDot)) instruction.modifiers.emplace_back(cursor_.next().text);
    if (instruction.opcode == "call") {
      parse_call(instruction);
    } else if (!cursor_.is_punct(';')) {
      do {
        instruction.operands.push_back(parse_operand(instruction.operands.size()));
      } while (cursor_.accept(','));
    }
    cursor_.expect(';');
  }

  // call (ret), name, (args), prototype: always three operands, or four.
  void parse_call(Instruction& instruction) {
    const Operand none{.kind = OperandKind::kVector, .name = {}, .second = {}, .elements = {}};
    instruction.operands = {none, {}, none};
    if (cursor_.is_punct('(')) {
      instruction.operands[0] = parse_list('(', ')');
      cursor_.expect(',');
    }
    instruction.operands[1] = parse_operand(1);
    if (!cursor_.accept(',')) return;
    if (cursor_.is_punct('(')) {
      instruction.operands[2] = parse_list('(', ')');
      if (!cursor_.accept(',')) return;
    }
    instruction.operands.push_back(parse_operand(3));
  }

  std::string parse_register(const Token& token) {
    const std::optional<Binding> binding = scopes_.find(token.text);
    if (!binding || binding->space != Space::kRegister) {
      cursor_.fail_at(token, "this register is not declared");
    }
    return binding->name;
  }

  // ---- operands ---------------------------------------------------------------------------------

  // `index` is the operand's place in its instruction, which a label needs to be resolved later.
  Operand parse_operand(std::size_t index) {
    const Token& token = cursor_.peek();
    if (cursor_.is_punct('{')) return parse_list('{', '}');
    if (cursor_.is_punct('[')) return parse_address();
    if (cursor_.accept('!')) {
      Operand operand = parse_operand(index);
      operand.negate = true;
      return operand;
    }
    if (token.kind == TokenKind::kWord) return parse_name(index);
    return parse_number();
  }

  // "{a, b}" or "(a, b)".
  Operand parse_list(char open, char close) {
    Operand list;
    list.kind = OperandKind::kVector;
    cursor_.expect(open);
    if (cursor_.accept(close)) return list;
    do {
      list.elements.push_back(parse_operand(kNoIndex));
    } while (cursor_.accept(','));
    cursor_.expect(close);
    return list;
  }

  Operand parse_number() {
    Operand operand;
    const bool negative = cursor_.accept('-');
    const bool inverted = !negative && cursor_.accept('~');
    if (!negative && !inverted) cursor_.accept('+');
    const Token& token = cursor_.next();
    const std::uint64_t value = token.value;
    switch (token.kind) {
      case TokenKind::kInteger:
        operand.kind = OperandKind::kInteger;
        operand.integer = static_cast<std::int64_t>(negative   ? 0 - value
                                                    : inverted ? ~value
                                                               : value);
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

  // "%tid" with ".x" close behind it.
  std::string_view take_component(const Token& token) {
    const Token& dot = cursor_.peek();
    const bool close = dot.text.data() == token.text.data() + token.text.size() + 1;
    return dot.kind == TokenKind::kDot && close ? cursor_.next().text : std::string_view();
  }

  Operand parse_name(std::size_t index) {
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
      operand = unbound_operand(token, index);
    }
    if (cursor_.accept('|')) parse_second(operand);
    return operand;
  }

  Operand bound_operand(const Token& token, const Binding& binding) {
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

  // A label or a name of the module; registers start with '%' and must be declared.
  Operand unbound_operand(const Token& token, std::size_t index) {
    if (token.text[0] == '%') cursor_.fail_at(token, "this register is not declared");
    Operand operand;
    operand.kind = OperandKind::kSymbol;
    operand.name = token.text;
    if (index != kNoIndex) {
      scopes_.use_label(
          {LabelUse::Where::kOperand, function_.body.size() - 1, index, token.text, token.line});
    } else if (!is_module_name_(token.text)) {
      cursor_.fail_at(token, "this name is not declared");
    }
    operand.integer = parse_offset();
    return operand;
  }

  // d|p: the second destination, which may be a sink.
  void parse_second(Operand& operand) {
    const Token& token = cursor_.expect(TokenKind::kWord, "a second destination");
    if (token.text != "_") operand.second = parse_register(token);
  }

  // "+4", "+-4", "-4" or nothing.
  std::int64_t parse_offset() {
    if (cursor_.accept('+')) return cursor_.expect_integer("an offset");
    return cursor_.is_punct('-') ? cursor_.expect_integer("an offset") : 0;
  }

  // [name + offset], [offset], [name, {coordinates}]
  Operand parse_address() {
    Operand operand;
    cursor_.expect('[');
    if (cursor_.is(TokenKind::kWord)) {
      operand = parse_name(kNoIndex);
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
      Operand inner = parse_operand(kNoIndex);
      if (inner.kind == OperandKind::kVector) {
        operand.elements = std::move(inner.elements);
      } else {
        operand.elements.push_back(std::move(inner));
      }
    }
    cursor_.expect(']');
    return operand;
  }

  static constexpr std::size_t kNoIndex = ~std::size_t{0};

  Cursor& cursor_;
  Function& function_;
  const IsModuleName& is_module_name_;
  Scopes scopes_;
  SourceLocation source_;
};

}  // namespace

void parse_body(Cursor& cursor, Function& function, const IsModuleName& is_module_name) {
  BodyParser(cursor, function, is_module_name).run();
}

}  // namespace tessera::vgpu::ptx
