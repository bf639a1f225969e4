// Parses one C++ expression by precedence and evaluates it at the same time.
#pragma once

#include "check/propose/evaluate.h"

namespace tessera::checking {

class ExpressionReader {
 public:
  ExpressionReader(Evaluator& evaluator, const Scope& scope, TokenRange words, int depth)
      : evaluator_(evaluator), scope_(scope), at_(words.first), last_(words.last), depth_(depth) {}

  // Returns the value of all the words; nullopt if they are not an expression that this class
  // reads.
  std::optional<HostValue> all() {
    auto value = choice();
    if (at_ != last_) return std::nullopt;
    return value;
  }

 private:
  using Maybe = std::optional<HostValue>;

  Maybe choice();
  Maybe binary(int lowest);
  Maybe unary();
  Maybe postfix();
  Maybe primary();
  Maybe name();
  std::optional<Maybe> by_path(const std::string& name);
  Maybe size_of();
  Maybe brackets(const std::string& name);
  bool skip_cast();
  bool may_have_template_arguments(const std::string& name) const;
  bool is(const char* text) const { return at_ != last_ && at_->is(text); }
  bool take(const char* text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  int operator_here(std::string& sign, int& length) const;
  TokenRange group();  // behind the opening sign that is here, up to its end; goes past it

  Evaluator& evaluator_;
  const Scope& scope_;
  const Token* at_;
  const Token* last_;
  const int depth_;
};

HostValue whole_value(std::int64_t integer);
HostValue real_value(double real);

// Returns the size of a type in bytes, "unsigned int" or "float4"; 0 if it is not known.
int bytes_of_type(TokenRange words);

}  // namespace tessera::checking
