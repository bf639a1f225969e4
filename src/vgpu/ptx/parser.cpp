// Parses a module: headers, variables and functions. Directives without a meaning for the executor
// (debug sections, pragmas, directives of later compilers) are skipped. Everything else must be
// correct.
#include "vgpu/ptx/parser.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>

#include "vgpu/ptx/body.h"
#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/declaration.h"

namespace tessera::vgpu::ptx {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : cursor_(text) {}

  Module run() {
    while (!cursor_.at_end()) parse_directive();
    if (module_.version_major == 0) cursor_.fail("this text has no .version directive");
    return std::move(module_);
  }

 private:
  void parse_directive() {
    if (cursor_.accept(';')) return;
    if (cursor_.is_punct('@')) return cursor_.skip_line();  // debug data of old compilers
    const Token& token = cursor_.expect(TokenKind::kDot, "a directive");
    if (token.text == "version") return parse_version();
    if (token.text == "target") return parse_target();
    if (token.text == "address_size") {
      module_.address_size = static_cast<int>(cursor_.expect_integer("an address size"));
      return;
    }
    if (token.text == "file") return parse_file(token.line);
    if (token.text == "visible" || token.text == "weak" || token.text == "common") return;
    if (token.text == "extern") {
      is_extern_ = true;
      return;
    }
    if (token.text == "entry" || token.text == "func") return parse_function(token);
    if (const auto space = space_from_word(token.text)) return parse_variables(token, *space);
    skip_unknown(token);
  }

  // Skips to the end of the line, and over a { } block that begins there or on the next line.
  void skip_unknown(const Token& token) {
    if (cursor_.peek().line == token.line) cursor_.skip_line();
    if (cursor_.is_punct('{')) cursor_.skip_braces();
  }

  // The version "9.0" is one token, a decimal number.
  void parse_version() {
    const std::string_view text = cursor_.expect(TokenKind::kFloat64, "a version").text;
    const std::size_t dot = text.find('.');
    std::from_chars(text.data(), text.data() + dot, module_.version_major);
    std::from_chars(text.data() + dot + 1, text.data() + text.size(), module_.version_minor);
  }

  void parse_target() {
    module_.target = cursor_.expect(TokenKind::kWord, "a target").text;
    while (cursor_.accept(',')) cursor_.expect(TokenKind::kWord, "a target option");
  }

  void parse_file(std::uint32_t line) {
    const Token& number = cursor_.expect(TokenKind::kInteger, "a file number");
    if (number.value > 1 << 20) cursor_.fail_at(number, "this file number is too large");
    if (module_.files.size() <= number.value) module_.files.resize(number.value + 1);
    module_.files[number.value] = cursor_.expect(TokenKind::kString, "a file name").text;
    if (cursor_.peek().line == line) cursor_.skip_line();
  }

  // ---- variables --------------------------------------------------------------------------------

  void parse_variables(const Token& token, Space space) {
    if (space == Space::kRegister || space == Space::kLocal || space == Space::kParam) {
      cursor_.fail_at(token, "a variable of this space must stand in a function");
    }
    const Declaration declaration = parse_declaration(cursor_, space);
    for (const Declarator& declarator : declaration.declarators) {
      Variable variable = make_variable(declaration, declarator);
      variable.is_extern = std::exchange(is_extern_, false);
      if (!names_.emplace(declarator.name.text, 0).second) {
        cursor_.fail_at(declarator.name, "this name is declared twice");
      }
      module_.variables.push_back(std::move(variable));
    }
  }

  // ---- functions --------------------------------------------------------------------------------

  void parse_function(const Token& token) {
    is_extern_ = false;
    Function function;
    function.is_entry = token.text == "entry";
    function.line = static_cast<int>(token.line);
    skip_attributes();
    if (cursor_.is_punct('(')) function.returns = parse_parameters();
    const Token& name = cursor_.expect(TokenKind::kWord, "the function's name");
    function.name = name.text;
    if (cursor_.is_punct('(')) function.params = parse_parameters();
    while (cursor_.is(TokenKind::kDot)) parse_function_directive(function);
    const std::size_t index = declare_function(name, function);
    if (cursor_.accept(';')) return;
    if (!cursor_.is_punct('{')) cursor_.fail("'{' or ';' was expected");
    function.has_body = true;
    parse_body(cursor_, function, [this](std::string_view used) { return names_.contains(used); });
    module_.functions[index] = std::move(function);
  }

  // A declaration and its later definition are one function. Returns the index of this function.
  std::size_t declare_function(const Token& name, const Function& function) {
    const auto [entry, is_new] = names_.emplace(name.text, module_.functions.size());
    if (is_new) {
      Function declared = function;
      module_.functions.push_back(std::move(declared));
    } else if (entry->second >= module_.functions.size() ||
               module_.functions[entry->second].name != name.text ||
               (module_.functions[entry->second].has_body && cursor_.is_punct('{'))) {
      cursor_.fail_at(name, "this name is declared twice");
    }
    return entry->second;
  }

  void skip_attributes() {
    while (cursor_.accept_dot("attribute") || cursor_.accept_dot("noreturn")) {
      if (!cursor_.is_punct('(')) continue;
      while (!cursor_.at_end() && !cursor_.accept(')')) cursor_.next();
    }
  }

  std::vector<Variable> parse_parameters() {
    std::vector<Variable> parameters;
    cursor_.expect('(');
    if (cursor_.accept(')')) return parameters;
    do {
      parameters.push_back(parse_parameter(cursor_));
    } while (cursor_.accept(','));
    cursor_.expect(')');
    return parameters;
  }

  // Reads a directive between the parameters and the body, such as ".maxntid 16, 16, 1".
  void parse_function_directive(Function& function) {
    const Token& token = cursor_.next();
    if (token.text == "pragma") return cursor_.skip_line();
    std::vector<int> values;
    for (bool more = true; more;) {
      if (cursor_.is(TokenKind::kInteger))
        values.push_back(static_cast<int>(cursor_.next().value));
      else if (cursor_.is(TokenKind::kWord) || cursor_.is(TokenKind::kString))
        cursor_.next();
      more = cursor_.accept(',');
    }
    int product = 1;
    for (int value : values) product *= value;
    if (token.text == "maxntid") function.max_threads = product;
    if (token.text == "reqntid") function.required_threads = product;
    if (token.text == "maxclusterrank") function.max_cluster_rank = product;
    if (token.text == "explicitcluster") function.explicit_cluster = true;
    if (token.text == "reqnctapercluster") {
      values.resize(3, 1);
      std::copy(values.begin(), values.end(), function.cluster);
    }
  }

  Cursor cursor_;
  Module module_;
  // The names at module scope. For a function the value is its index.
  std::unordered_map<std::string_view, std::size_t> names_;
  bool is_extern_ = false;
};

}  // namespace

std::string Instruction::form() const {
  std::string text = opcode;
  for (const std::string& modifier : modifiers) text.append(".").append(modifier);
  return text;
}

Module parse(std::string_view text) { return ModuleParser(text).run(); }

}  // namespace tessera::vgpu::ptx
