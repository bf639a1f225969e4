// Follows the statements of a function in the order in which they run, as far as the values of
// conditions are known.
#pragma once

#include <initializer_list>
#include <optional>

#include "check/propose/evaluate.h"

namespace tessera::checking {

bool is_one_of(const Token& token, std::initializer_list<const char*> words);

class StatementWalk {
 public:
  virtual ~StatementWalk() = default;

  // Returns false if the path depends on an unknown value, or does not end.
  bool comes_to_its_end(TokenRange body);  // with its braces

 protected:
  virtual std::optional<HostValue> value(TokenRange words) = 0;
  virtual void simple(TokenRange words) = 0;   // a declaration, an assignment, a call; no ";"
  virtual void returns(TokenRange words) = 0;  // may be empty
  virtual bool may_set(const std::string& function) const = 0;      // sets its arguments
  virtual void forget(const std::set<std::string>& variables) = 0;  // values become unknown

 private:
  // How a statement ends. kLost: the next statement is not known.
  enum class Flow : std::uint8_t { kNext, kReturn, kBreak, kContinue, kLost };

  Flow block(TokenRange words);
  Flow statement(TokenRange words);
  Flow branch(TokenRange words);
  Flow loop(TokenRange words);
  Flow choose(TokenRange words);

  int statements_ = 0;
};

}  // namespace tessera::checking
