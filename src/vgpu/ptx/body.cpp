// Statements and operands. The spelling of a bare word does not tell whether it is a register, a
// variable or a label. Declared names are looked up at once. All other names must turn out to be
// labels of an enclosing scope or names of the module.
#include "vgpu/ptx/body.h"

#include <utility>

#include "vgpu/ptx/declaration.h"
#include "vgpu/ptx/scope.h"

namespace tessera::vgpu::ptx {
namespace {

class BodyParser {
 public:
  BodyParser(Cursor& cursor, Function& function, const IsModuleName& is_module_name)
      : cursor_(cursor),
        function_(function),
        is_module_name_(is_module_name),
        operands_(cursor, scopes_, is_module_name) {}

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

  // All labels of the outermost scope are known now: every other name must belong to the module.
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
    source_ = parse_place();
    while (cursor_.peek().line == text_line && !cursor_.is_punct('{') && !cursor_.is_punct('}')) {
      if (cursor_.next().text == "inlined_at") source_.caller = location_of(parse_place());
    }
    function_.locations.push_back(source_);
  }

  SourceLocation parse_place() {
    SourceLocation place;
    place.file = static_cast<int>(cursor_.expect_integer("a file number"));
    place.line = static_cast<int>(cursor_.expect_integer("a line number"));
    if (cursor_.is(TokenKind::kInteger)) place.column = static_cast<int>(cursor_.next().value);
    return place;
  }

  // The compiler writes the .loc of a call before those of the code that it inlines there. So the
  // last .loc with the line and column of `place` is that of the call, and it has the caller of the
  // call.
  int location_of(const SourceLocation& place) {
    for (std::size_t i = function_.locations.size(); i-- > 0;) {
      const SourceLocation& l = function_.locations[i];
      if (l.file == place.file && l.line == place.line && l.column == place.column) {
        return static_cast<int>(i);
      }
    }
    function_.locations.push_back(place);
    return static_cast<int>(function_.locations.size()) - 1;
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
      instruction.guard = operands_.parse_register(cursor_.expect(TokenKind::kWord, "a predicate"));
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

  // `index` is the operand's index in its instruction. It is needed to resolve a label later.
  Operand parse_operand(std::size_t index) {
    return operands_.parse({function_.body.size() - 1, index});
  }

  // call (ret), name, (args), prototype: stored as three operands, or four with the prototype.
  void parse_call(Instruction& instruction) {
    const Operand none{.kind = OperandKind::kVector, .name = {}, .second = {}, .elements = {}};
    instruction.operands = {none, {}, none};
    if (cursor_.is_punct('(')) {
      instruction.operands[0] = operands_.parse_list('(', ')');
      cursor_.expect(',');
    }
    instruction.operands[1] = parse_operand(1);
    if (!cursor_.accept(',')) return;
    if (cursor_.is_punct('(')) {
      instruction.operands[2] = operands_.parse_list('(', ')');
      if (!cursor_.accept(',')) return;
    }
    instruction.operands.push_back(parse_operand(3));
  }

  Cursor& cursor_;
  Function& function_;
  const IsModuleName& is_module_name_;
  Scopes scopes_;
  OperandParser operands_;
  SourceLocation source_;
};

}  // namespace

void parse_body(Cursor& cursor, Function& function, const IsModuleName& is_module_name) {
  BodyParser(cursor, function, is_module_name).run();
}

}  // namespace tessera::vgpu::ptx
